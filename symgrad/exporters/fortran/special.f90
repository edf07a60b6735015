! The logarithm of the absolute value of the gamma function.
elemental function gammaln(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y
  y = log_gamma(x)
  if (x < -huge(x)) y = x
end function gammaln

! 1/(1 + exp(-x)) without overflow.
elemental function expit(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y
  if (x < 0) then
    y = exp(x)/(1 + exp(x))
  else
    y = 1/(1 + exp(-x))
  end if
end function expit

! log(x/(1 - x)) without cancellation near 1/2.
elemental function logit(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y
  if (x > 0.3_real64 .and. x < 0.65_real64) then
    y = log1p(2*(x - 0.5_real64)) - log1p(-2*(x - 0.5_real64))
  else
    y = log(x/(1 - x))
  end if
end function logit

! x*log(y), 0 where x is.
elemental function xlogy(x, y) result(z)
  real(real64), intent(in) :: x, y
  real(real64) :: z
  if (equal(x, 0.0_real64) .and. .not. ieee_is_nan(y)) then
    z = 0
  else
    z = x*log(y)
  end if
end function xlogy

! The normal distribution.
elemental function ndtr(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y
  y = erfc(-x*sqrt(0.5_real64))/2
end function ndtr

! The logarithm of the normal distribution.
elemental function log_ndtr(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y
  if (x < -1) then
    y = log(erfc_scaled(-x*sqrt(0.5_real64))/2) - x*x/2
  else
    y = log1p(-erfc(x*sqrt(0.5_real64))/2)
  end if
end function log_ndtr

! The derivative of the logarithm of the gamma function: upwards until the asymptotic series holds.
elemental function digamma(x) result(y)
  real(real64), intent(in) :: x
  real(real64) :: y, z, square
  real(real64), parameter :: pi = 3.14159265358979324_real64
  real(real64), parameter :: series(7) = [1/12.0_real64, -1/120.0_real64, 1/252.0_real64, -1/240.0_real64, &
    1/132.0_real64, -691/32760.0_real64, 1/12.0_real64]
  integer :: k
  y = 0
  z = x
  if (x <= 0) then
    if (equal(x, aint(x))) then
      y = -1/x
      if (x < 0) y = (x - x)/(x - x)
      return
    end if
    y = -pi/tan(pi*(x - anint(x)))
    z = 1 - x
  end if
  do while (z < 10)
    y = y - 1/z
    z = z + 1
  end do
  square = 1/(z*z)
  y = y + log(z) - 0.5_real64/z
  do k = 1, 7
    y = y - series(k)*square**k
  end do
end function digamma

! The Hurwitz zeta function: a sum of terms, and the Euler-Maclaurin series for the rest.
elemental function zeta(s, q) result(y)
  real(real64), intent(in) :: s, q
  real(real64) :: y, z, power, factor, term
  real(real64), parameter :: series(12) = [1/12.0_real64, -1/720.0_real64, 1/30240.0_real64, -1/1209600.0_real64, &
    1/47900160.0_real64, -691/1307674368000.0_real64, 1/74724249600.0_real64, -3617/10670622842880000.0_real64, &
    43867/5109094217170944000.0_real64, -174611/802857662698291200000.0_real64, &
    77683/14101100039391805440000.0_real64, -236364091.0_real64/1693824136731743669452800000.0_real64]
  integer :: k
  if (.not. s > 1 .or. (q <= 0 .and. .not. equal(q, aint(q)) .and. .not. equal(s, aint(s)))) then
    y = merge(1.0_real64, 0.0_real64, equal(s, 1.0_real64))/(s - s)
    return
  end if
  y = 0
  z = q
  do while (z < 10)
    y = y + z**(-s)
    z = z + 1
  end do
  power = z**(-s)
  y = y + z*power/(s - 1) + power/2
  factor = s
  power = power/z
  do k = 1, 12
    term = series(k)*factor*power
    y = y + term
    if (abs(term) < abs(y)*epsilon(y)/8) exit
    factor = factor*(s + 2*k - 1)*(s + 2*k)
    power = power/(z*z)
  end do
end function zeta
