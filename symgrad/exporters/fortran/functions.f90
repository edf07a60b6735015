! Whether two numbers are the same one; NaN is not itself.
elemental function equal(a, b) result(y)
  real(real64), intent(in) :: a, b
  logical :: y
  y = a >= b .and. a <= b
end function equal

! The larger one; NaN where one of them is.
elemental function maximum(a, b) result(y)
  real(real64), intent(in) :: a, b
  real(real64) :: y
  y = merge(a, b, a >= b .or. ieee_is_nan(a))
end function maximum

! The smaller one; NaN where one of them is.
elemental function minimum(a, b) result(y)
  real(real64), intent(in) :: a, b
  real(real64) :: y
  y = merge(a, b, a <= b .or. ieee_is_nan(a))
end function minimum

! The larger one that is no NaN.
elemental function fmax(a, b) result(y)
  real(real64), intent(in) :: a, b
  real(real64) :: y
  y = merge(a, b, a >= b .or. ieee_is_nan(b))
end function fmax

! The smaller one that is no NaN.
elemental function fmin(a, b) result(y)
  real(real64), intent(in) :: a, b
  real(real64) :: y
  y = merge(a, b, a <= b .or. ieee_is_nan(b))
end function fmin

! 1, -1, 0 or NaN.
elemental function signum(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y
  if (x > 0) then
    y = 1
  else if (x < 0) then
    y = -1
  else
    y = abs(x)
  end if
end function signum

! 1, -1 or 0.
elemental function signum_int64(x) result(y)
  integer(int64), intent(in) :: x
  integer(int64) :: y
  y = merge(1_int64, 0_int64, x > 0) - merge(1_int64, 0_int64, x < 0)
end function signum_int64

! Whether a number is infinite.
elemental function is_infinite(x) result(y)
  real(real64), intent(in) :: x
  logical :: y
  y = abs(x) > huge(x)
end function is_infinite

! The largest whole number that is not above x.
elemental function floor_of(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y
  y = aint(x)
  if (y > x) y = y - 1
end function floor_of

! The smallest whole number that is not below x.
elemental function ceiling_of(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y
  y = -floor_of(-x)
end function ceiling_of

! The nearest whole number, the even one of two.
elemental function rint(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y
  y = anint(x)
  if (equal(abs(x - aint(x)), 0.5_real64)) y = 2*anint(x/2)
end function rint

! What is left of a after whole steps of b, of the sign of b.
elemental function remainder(a, b) result(y)
  real(real64), intent(in) :: a, b
  real(real64) :: y
  y = mod(a, b)
  if (equal(y, 0.0_real64)) then
    y = sign(0.0_real64, b)
  else if (y < 0 .neqv. b < 0) then
    y = y + b
  end if
end function remainder

! The whole steps of b in a, rounded down.
elemental function floor_divide(a, b) result(y)
  real(real64), intent(in) :: a, b
  real(real64) :: y, left
  if (equal(b, 0.0_real64)) then
    y = a/b
    return
  end if
  left = mod(a, b)
  y = (a - left)/b
  if (.not. equal(left, 0.0_real64) .and. (left < 0 .neqv. b < 0)) y = y - 1
  if (equal(y, 0.0_real64)) then
    y = sign(0.0_real64, a/b)
  else
    left = floor_of(y)
    y = merge(left + 1, left, y - left > 0.5_real64)
  end if
end function floor_divide

! What is left of a after whole steps of b, of the sign of b; 0 where b is.
elemental function remainder_int64(a, b) result(y)
  integer(int64), intent(in) :: a, b
  integer(int64) :: y
  y = 0
  if (b /= 0 .and. b /= -1) y = modulo(a, b)
end function remainder_int64

! What is left of a after whole steps of b, of the sign of a; 0 where b is.
elemental function fmod_int64(a, b) result(y)
  integer(int64), intent(in) :: a, b
  integer(int64) :: y
  y = 0
  if (b /= 0 .and. b /= -1) y = mod(a, b)
end function fmod_int64

! The whole steps of b in a, rounded down; 0 where b is.
elemental function floor_divide_int64(a, b) result(y)
  integer(int64), intent(in) :: a, b
  integer(int64) :: y
  y = 0
  if (b == -1) then
    y = -a
  else if (b /= 0) then
    y = a/b
    if (mod(a, b) /= 0 .and. (a < 0 .neqv. b < 0)) y = y - 1_int64
  end if
end function floor_divide_int64

! 1/x towards zero; where x is 0, what NumPy has.
elemental function reciprocal_int64(x) result(y)
  integer(int64), intent(in) :: x
  integer(int64) :: y
  y = 0
  if (x /= 0) then
    y = 1_int64/x
  else if (bit_size(x) >= 32) then
    y = -huge(x) - 1_int64
  end if
end function reciprocal_int64

! 0 below zero, 1 above it, and at zero the second argument.
elemental function heaviside(x, at_zero) result(y)
  real(real64), intent(in) :: x, at_zero
  real(real64) :: y
  if (x < 0) then
    y = 0
  else if (x > 0) then
    y = 1
  else
    y = merge(x, at_zero, ieee_is_nan(x))
  end if
end function heaviside

! x times 2 to the power of e.
elemental function ldexp(x, e) result(y)
  real(real64), intent(in) :: x
  integer(int64), intent(in) :: e
  real(real64) :: y
  y = scale(x, int(max(-5000_int64, min(5000_int64, e))))
end function ldexp

! The real cube root.
elemental function cbrt(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y
  y = sign(abs(x)**(1/3.0_real64), x)
  if (ieee_is_finite(x) .and. abs(y) > 0) y = y - (y - x/y/y)/3
end function cbrt

! exp(x) - 1 without cancellation.
elemental function expm1(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y, u
  u = exp(x)
  if (equal(u, 1.0_real64)) then
    y = x
  else if (abs(x) > 1) then
    y = u - 1
  else
    y = (u - 1)*x/log(u)
  end if
end function expm1

! log(1 + x) without cancellation.
elemental function log1p(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y, u
  u = 1 + x
  if (equal(u, 1.0_real64)) then
    y = x
  else if (abs(x) > 1) then
    y = log(u)
  else
    y = log(u)*x/(u - 1)
  end if
end function log1p

! The logarithm to base 2, exact for powers of 2.
elemental function log2(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y, part
  integer :: power
  if (.not. (x > 0 .and. ieee_is_finite(x))) then
    y = log(x)
    return
  end if
  power = exponent(x)
  part = fraction(x)
  if (part < 0.7_real64) then
    part = 2*part
    power = power - 1
  end if
  y = power + log(part)/log(2.0_real64)
end function log2

! log(exp(a) + exp(b)) without overflow.
elemental function logaddexp(a, b) result(y)
  real(real64), intent(in) :: a, b
  real(real64) :: y
  if (equal(a, b)) then
    y = a + log(2.0_real64)
  else if (a > b) then
    y = a + log1p(exp(b - a))
  else if (a < b) then
    y = b + log1p(exp(a - b))
  else
    y = a - b
  end if
end function logaddexp

! log2(2**a + 2**b) without overflow.
elemental function logaddexp2(a, b) result(y)
  real(real64), intent(in) :: a, b
  real(real64) :: y
  if (equal(a, b)) then
    y = a + 1
  else if (a > b) then
    y = a + log1p(2**(b - a))/log(2.0_real64)
  else if (a < b) then
    y = b + log1p(2**(a - b))/log(2.0_real64)
  else
    y = a - b
  end if
end function logaddexp2

! Whether the sign is minus, that of a zero too.
elemental function signbit(x) result(y)
  real(real64), intent(in) :: x
  logical :: y
  y = sign(1.0_real64, x) < 0
end function signbit
