! the gradient of branches, derived by symgrad 0.1.0
! function: branches, SHA-256 of its source f0522b8a8332899a
! flags: grad_position=0, with_value=True, mode=auto
! inputs: x: float64[3]
! outputs: float64, float64[3]
! convention: abs(x) has slope 0 at x = 0
! convention: at ties of two arguments max and min share the slope evenly
! convention: a choice has the slope of the side that is taken
! operations: 1 absolute, 5 add, 6 einsum, 1 equal, 1 gate, 1 greater, 1 greater_equal, 1 maximum,
!     6 multiply, 1 sign, 1 square, 1 subtract, 4 where
! holds for the branches that the example took: 3 conditions are checked
! check: 4 values to 1e-09; finite differences: off by 0e+00
! build and check: gfortran grad_branches.f90 -o grad_branches_check && ./grad_branches_check

module grad_branches_module
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  implicit none
  private
  public :: grad_branches
  integer, parameter :: status_branch = 2

contains

  ! The gradient of branches.
  ! info is 0 where all is well, or:
  ! 2 the arguments take another branch than the ones that this code was made for
  pure subroutine grad_branches(x, f, df_dx, info)
    real(real64), intent(in) :: x(3)
    real(real64), intent(out) :: f
    real(real64), intent(out) :: df_dx(3)
    integer, intent(out) :: info
    integer(int64) :: i
    real(real64) :: v0, v19, v20, v21, v2, v3, v4, v5, v6, v7, v8, v11
    real(real64) :: v12, v13, v14, v15, v16, v17, v18, v26, v27, v28
    logical :: v1, v9, v10, v22, v23, v24, v25
    info = 0
    v0 = 0.0_real64
    v19 = 0.0_real64
    v20 = 0.0_real64
    v21 = 0.0_real64
    do i = 1, 3
      v0 = v0 + x(i)
      v1 = x(i) > 0.5_real64
      v2 = x(i)*x(i)
      v3 = abs(x(i))
      v4 = v3*0.0_real64
      v5 = merge(v2, v4, v1)
      v6 = v3*1.0_real64
      v7 = merge(v2, v6, v1)
      v8 = maximum(x(i), 0.25_real64)
      v9 = x(i) >= 0.25_real64
      v10 = equal(x(i), 0.25_real64)
      v11 = merge(0.5_real64, 1.0_real64, v10)
      v12 = signum(x(i))
      v13 = 2.0_real64*x(i)
      v14 = v11*(-1.0_real64)
      v15 = merge(v14, 0.0_real64, v9)
      v16 = 1.0_real64*v12
      v17 = 2.0_real64*v13
      v18 = merge(v17, v16, v1)
      df_dx(i) = v15 + v18
      v19 = v19 + v5
      v20 = v20 + v7
      v21 = v21 + v8
    end do
    v22 = v0 > 0.0_real64
    v23 = v0 > 1.0_real64
    v24 = v0 > 2.0_real64
    v25 = .not. v24
    v26 = 0.0_real64 + v19
    v27 = v26 + v20
    v28 = v27 - v21
    f = v28
    if (.not. v22) then
      info = status_branch
      return
    end if
    if (.not. v23) then
      info = status_branch
      return
    end if
    if (.not. v25) then
      info = status_branch
      return
    end if
  end subroutine grad_branches

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

end module grad_branches_module

! Compares grad_branches with what the kernel of symgrad computed when this was written.
program grad_branches_check
  use grad_branches_module, only: grad_branches
  use, intrinsic :: iso_fortran_env, only: real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_is_nan
  implicit none
  real(real64), parameter :: given_1(3) = [0.9_real64, -0.3_real64, 0.6_real64]
  real(real64) :: got_1
  real(real64), parameter :: want_1(1) = [0.8900000000000001_real64]
  real(real64) :: got_2(3)
  real(real64), parameter :: want_2(3) = [2.6_real64, -1.0_real64, 1.4_real64]
  real(real64) :: worst
  integer :: info
  character(len=40) :: found

  call grad_branches(given_1, got_1, got_2, info)
  if (info /= 0) then
    print '(a, i0, a)', 'grad_branches: FAIL (info is ', info, ')'
    stop 1
  end if
  worst = 0
  call compare([got_1], 1, want_1)
  call compare(got_2, 1, want_2)
  write (found, '(es8.1e2)') worst
  if (worst <= 1e-09_real64) then
    print '(a)', 'grad_branches: pass (largest difference ' // trim(adjustl(found)) // ', allowed 1e-09)'
  else
    print '(a)', 'grad_branches: FAIL (largest difference ' // trim(adjustl(found)) // ', allowed 1e-09)'
    stop 1
  end if

contains

  ! How far elements are from the wanted ones, relative to the largest of these or 1.
  subroutine compare(got, step, want)
    real(real64), intent(in) :: got(:), want(:)
    integer, intent(in) :: step
    real(real64) :: largest, mine, off
    integer :: k
    largest = 1
    do k = 1, size(want)
      if (ieee_is_finite(want(k))) largest = max(largest, abs(want(k)))
    end do
    do k = 1, size(want)
      mine = got(1 + (k - 1)*step)
      off = abs(mine - want(k))/largest
      if (mine >= want(k) .and. mine <= want(k)) off = 0
      if (ieee_is_nan(off)) off = huge(off)
      if (ieee_is_nan(mine) .and. ieee_is_nan(want(k))) off = 0
      worst = max(worst, off)
    end do
  end subroutine compare

end program grad_branches_check
