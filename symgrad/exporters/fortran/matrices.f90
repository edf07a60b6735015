! The LU factors of a matrix, and the rows in the order in which they stand; odd is the sign of that order, 0 where a
! pivot is zero.
pure subroutine factorise(a, factors, rows, odd, info)
  real(real64), intent(in) :: a(:, :)
  real(real64), allocatable, intent(out) :: factors(:, :)
  integer, allocatable, intent(out) :: rows(:)
  integer, intent(out) :: odd
  integer, intent(inout) :: info
  integer :: n, i, j, k, best, failed
  real(real64) :: held
  n = size(a, 1)
  odd = 1
  allocate(factors(n, n), rows(n), stat=failed)
  if (failed /= 0) then
    info = status_memory
    return
  end if
  factors = a
  rows = [(i, i = 1, n)]
  do k = 1, n
    best = k
    do i = k + 1, n
      if (abs(factors(i, k)) > abs(factors(best, k))) best = i
    end do
    if (abs(factors(best, k)) <= 0) then
      odd = 0
      return
    end if
    if (best /= k) then
      odd = -odd
      i = rows(k)
      rows(k) = rows(best)
      rows(best) = i
      do j = 1, n
        held = factors(k, j)
        factors(k, j) = factors(best, j)
        factors(best, j) = held
      end do
    end if
    do i = k + 1, n
      factors(i, k) = factors(i, k)/factors(k, k)
    end do
    do j = k + 1, n
      do i = k + 1, n
        factors(i, j) = factors(i, j) - factors(i, k)*factors(k, j)
      end do
    end do
  end do
end subroutine factorise

! Solve for one vector with LU factors.
pure subroutine substitute(factors, rows, b, x)
  real(real64), intent(in) :: factors(:, :), b(:)
  integer, intent(in) :: rows(:)
  real(real64), intent(out) :: x(:)
  integer :: i, k
  do i = 1, size(rows)
    x(i) = b(rows(i))
  end do
  do k = 1, size(rows)
    do i = k + 1, size(rows)
      x(i) = x(i) - factors(i, k)*x(k)
    end do
  end do
  do k = size(rows), 1, -1
    x(k) = x(k)/factors(k, k)
    do i = 1, k - 1
      x(i) = x(i) - factors(i, k)*x(k)
    end do
  end do
end subroutine substitute

! The solution of a x = b for a vector b.
pure subroutine solve_vector(a, b, x, info)
  real(real64), intent(in) :: a(:, :), b(:)
  real(real64), intent(out) :: x(:)
  integer, intent(inout) :: info
  real(real64), allocatable :: factors(:, :)
  integer, allocatable :: rows(:)
  integer :: odd
  call factorise(a, factors, rows, odd, info)
  if (odd == 0) info = status_singular
  if (info == 0) call substitute(factors, rows, b, x)
end subroutine solve_vector

! The solutions of a x = b for the columns of b.
pure subroutine solve_columns(a, b, x, info)
  real(real64), intent(in) :: a(:, :), b(:, :)
  real(real64), intent(out) :: x(:, :)
  integer, intent(inout) :: info
  real(real64), allocatable :: factors(:, :)
  integer, allocatable :: rows(:)
  integer :: odd, j
  call factorise(a, factors, rows, odd, info)
  if (odd == 0) info = status_singular
  if (info /= 0) return
  do j = 1, size(b, 2)
    call substitute(factors, rows, b(:, j), x(:, j))
  end do
end subroutine solve_columns

! The inverse of a matrix.
pure subroutine inverse(a, x, info)
  real(real64), intent(in) :: a(:, :)
  real(real64), intent(out) :: x(:, :)
  integer, intent(inout) :: info
  real(real64), allocatable :: factors(:, :), unit(:)
  integer, allocatable :: rows(:)
  integer :: odd, j
  call factorise(a, factors, rows, odd, info)
  if (odd == 0) info = status_singular
  if (info /= 0) return
  allocate(unit(size(rows)))
  do j = 1, size(rows)
    unit = 0
    unit(j) = 1
    call substitute(factors, rows, unit, x(:, j))
  end do
end subroutine inverse

! The determinant.
pure subroutine determinant(a, d, info)
  real(real64), intent(in) :: a(:, :)
  real(real64), intent(out) :: d
  integer, intent(inout) :: info
  real(real64), allocatable :: factors(:, :)
  integer, allocatable :: rows(:)
  integer :: odd, i
  call factorise(a, factors, rows, odd, info)
  d = odd
  if (info /= 0 .or. odd == 0) return
  do i = 1, size(rows)
    d = d*factors(i, i)
  end do
end subroutine determinant

! The logarithm of the absolute value of the determinant.
pure subroutine log_determinant(a, l, info)
  real(real64), intent(in) :: a(:, :)
  real(real64), intent(out) :: l
  integer, intent(inout) :: info
  real(real64), allocatable :: factors(:, :)
  integer, allocatable :: rows(:)
  integer :: odd, i
  call factorise(a, factors, rows, odd, info)
  l = log(abs(real(odd, real64)))
  if (info /= 0 .or. odd == 0) return
  do i = 1, size(rows)
    l = l + log(abs(factors(i, i)))
  end do
end subroutine log_determinant

! The sign of the determinant, 0 where the matrix is singular.
pure subroutine determinant_sign(a, s, info)
  real(real64), intent(in) :: a(:, :)
  real(real64), intent(out) :: s
  integer, intent(inout) :: info
  real(real64), allocatable :: factors(:, :)
  integer, allocatable :: rows(:)
  integer :: odd, i
  call factorise(a, factors, rows, odd, info)
  s = odd
  if (info /= 0 .or. odd == 0) return
  do i = 1, size(rows)
    if (factors(i, i) < 0) s = -s
  end do
end subroutine determinant_sign

! The lower Cholesky factor of a matrix, whose lower triangle is read.
pure subroutine cholesky(a, l, info)
  real(real64), intent(in) :: a(:, :)
  real(real64), intent(out) :: l(:, :)
  integer, intent(inout) :: info
  integer :: i, j, k
  real(real64) :: rest
  l = 0
  do j = 1, size(a, 1)
    do i = j, size(a, 1)
      rest = a(i, j)
      do k = 1, j - 1
        rest = rest - l(i, k)*l(j, k)
      end do
      if (i > j) then
        l(i, j) = rest/l(j, j)
      else if (rest > 0) then
        l(j, j) = sqrt(rest)
      else
        info = status_indefinite
        return
      end if
    end do
  end do
end subroutine cholesky
