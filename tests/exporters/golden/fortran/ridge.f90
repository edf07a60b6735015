! the gradient of ridge, derived by symgrad 0.1.0
! function: ridge, SHA-256 of its source 4649bca8a82978c0
! flags: grad_position=(0, 3), with_value=True, mode=auto
! inputs: w: float64[d], X: float64[n, d], y: float64[n], lam: float
! outputs: float64, float64[d], float64
! operations: 2 add, 5 einsum, 1 multiply, 2 square, 1 subtract
! check: 4 values at d = 2, n = 4 to 1e-09; finite differences: off by 1e-16
! build and check: gfortran grad_ridge.f90 -o grad_ridge_check && ./grad_ridge_check

module grad_ridge_module
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: grad_ridge
  integer, parameter :: status_memory = 1

contains

  ! The gradient of ridge.
  ! info is 0 where all is well, or:
  ! 1 there is not enough memory
  pure subroutine grad_ridge(d, n, w, X, y, lam, f, df_dw, df_dlam, info)
    integer(int64), intent(in) :: d, n
    real(real64), intent(in) :: w(d)
    real(real64), intent(in) :: X(n, d)
    real(real64), intent(in) :: y(n)
    real(real64), intent(in) :: lam
    real(real64), intent(out) :: f
    real(real64), intent(out) :: df_dw(d)
    real(real64), intent(out) :: df_dlam
    integer, intent(out) :: info
    integer(int64) :: i, j
    real(real64) :: v1, v0, v5, v4, v6, v7, v9, v10
    real(real64), allocatable :: v2(:), v3(:), v8(:)
    integer :: failed
    info = 0
    v1 = 0.0_real64
    do i = 1, d
      v0 = w(i)*w(i)
      v1 = v1 + v0
    end do
    allocate(v2(n), stat=failed)
    if (failed /= 0) then
      info = status_memory
      return
    end if
    v2 = 0.0_real64
    do i = 1, d
      do j = 1, n
        v2(j) = v2(j) + w(i)*X(j, i)
      end do
    end do
    allocate(v3(n), stat=failed)
    if (failed /= 0) then
      info = status_memory
      return
    end if
    v5 = 0.0_real64
    do i = 1, n
      v3(i) = v2(i) - y(i)
      v4 = v3(i)*v3(i)
      v5 = v5 + v4
    end do
    deallocate(v2)
    v6 = lam*v1
    v7 = v5 + v6
    f = v7
    df_dlam = v1
    allocate(v8(d), stat=failed)
    if (failed /= 0) then
      info = status_memory
      return
    end if
    do i = 1, d
      v9 = 0.0_real64
      do j = 1, n
        v9 = v9 + X(j, i)*v3(j)
      end do
      v8(i) = 2.0_real64*v9
    end do
    deallocate(v3)
    do i = 1, d
      v10 = 2.0_real64*lam*w(i)
      df_dw(i) = v10 + v8(i)
    end do
    deallocate(v8)
  end subroutine grad_ridge

end module grad_ridge_module

! Compares grad_ridge with what the kernel of symgrad computed when this was written.
program grad_ridge_check
  use grad_ridge_module, only: grad_ridge
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_is_nan
  implicit none
  real(real64), parameter :: given_1(2) = [0.5_real64, -1.0_real64]
  real(real64), parameter :: given_2(4, 2) = reshape([-0.8019314252534474_real64, 0.4204452380655215_real64, &
      -0.5526473205362324_real64, 1.6347830429585775_real64, -1.324358995628145_real64, 1.1360465324896427_real64, &
      -0.7847803553442784_real64, 0.27276877584472176_real64], [4, 2])
  real(real64), parameter :: given_3(4) = [1.0_real64, 1.0_real64, 1.0_real64, -1.0_real64]
  real(real64), parameter :: given_4 = 0.1_real64
  real(real64) :: got_1
  real(real64), parameter :: want_1(1) = [6.467140581678798_real64]
  real(real64) :: got_2(2)
  real(real64), parameter :: want_2(2) = [4.197006005412396_real64, -2.7585847986236662_real64]
  real(real64) :: got_3
  real(real64), parameter :: want_3(1) = [1.25_real64]
  real(real64) :: worst
  integer :: info
  character(len=40) :: found

  call grad_ridge(2_int64, 4_int64, given_1, given_2, given_3, given_4, got_1, got_2, got_3, info)
  if (info /= 0) then
    print '(a, i0, a)', 'grad_ridge: FAIL (info is ', info, ')'
    stop 1
  end if
  worst = 0
  call compare([got_1], 1, want_1)
  call compare(got_2, 1, want_2)
  call compare([got_3], 1, want_3)
  write (found, '(es8.1e2)') worst
  if (worst <= 1e-09_real64) then
    print '(a)', 'grad_ridge: pass (largest difference ' // trim(adjustl(found)) // ', allowed 1e-09)'
  else
    print '(a)', 'grad_ridge: FAIL (largest difference ' // trim(adjustl(found)) // ', allowed 1e-09)'
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

end program grad_ridge_check
