! the gradient of logistic, derived by symgrad 0.1.0
! function: logistic, SHA-256 of its source 3a388028a9cb3f10
! flags: grad_position=0, with_value=True, mode=auto
! inputs: w: float64[3], X: float64[6, 3], y: float64[6]
! outputs: float64, float64[3]
! operations: 2 add, 1 divide, 3 einsum, 2 exp, 1 log, 1 multiply, 2 negative
! check: 4 values to 1e-09; finite differences: off by 3e-16
! build and check: gfortran grad_logistic.f90 -o grad_logistic_check && ./grad_logistic_check

module grad_logistic_module
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: grad_logistic

contains

  ! The gradient of logistic.
  ! info is 0 where all is well.
  pure subroutine grad_logistic(w, X, y, f, df_dw, info)
    real(real64), intent(in) :: w(3)
    real(real64), intent(in) :: X(6, 3)
    real(real64), intent(in) :: y(6)
    real(real64), intent(out) :: f
    real(real64), intent(out) :: df_dw(3)
    integer, intent(out) :: info
    integer(int64) :: i, j
    real(real64) :: v7, v2, v3, v4, v5, v6, v8, v9, v10, v11
    real(real64) :: v0(6), v1(6)
    info = 0
    v0 = 0.0_real64
    do i = 1, 3
      do j = 1, 6
        v0(j) = v0(j) + w(i)*X(j, i)
      end do
    end do
    v7 = 0.0_real64
    do i = 1, 6
      v2 = -y(i)
      v3 = v2*v0(i)
      v4 = exp(v3)
      v5 = 1.0_real64 + v4
      v6 = log(v5)
      v7 = v7 + v6
      v8 = -v3
      v9 = exp(v8)
      v10 = 1.0_real64 + v9
      v1(i) = 1.0_real64/v10
    end do
    do i = 1, 3
      v11 = 0.0_real64
      do j = 1, 6
        v11 = v11 + X(j, i)*y(j)*v1(j)
      end do
      df_dw(i) = -v11
    end do
    f = v7
  end subroutine grad_logistic

end module grad_logistic_module

! Compares grad_logistic with what the kernel of symgrad computed when this was written.
program grad_logistic_check
  use grad_logistic_module, only: grad_logistic
  use, intrinsic :: iso_fortran_env, only: real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_is_nan
  implicit none
  real(real64), parameter :: given_1(3) = [0.1_real64, -0.2_real64, 0.3_real64]
  real(real64), parameter :: given_2(6, 3) = reshape([-0.8019314252534474_real64, 0.4204452380655215_real64, &
      -0.5526473205362324_real64, 1.6347830429585775_real64, -0.9582652054360887_real64, -1.7321348424395848_real64, &
      -1.324358995628145_real64, 1.1360465324896427_real64, -0.7847803553442784_real64, 0.27276877584472176_real64, &
      1.6000190889991115_real64, -0.08369619281702581_real64, -0.24836162209524854_real64, 0.10970639932180819_real64, &
      0.7487457707345911_real64, -1.2333286640307717_real64, 0.2028824405086084_real64, -1.1632259734447485_real64], &
      [6, 3])
  real(real64), parameter :: given_3(6) = [1.0_real64, 1.0_real64, 1.0_real64, -1.0_real64, 1.0_real64, 1.0_real64]
  real(real64) :: got_1
  real(real64), parameter :: want_1(1) = [4.389860136377025_real64]
  real(real64) :: got_2(3)
  real(real64), parameter :: want_2(3) = [2.739320196080686_real64, -0.42614960131661983_real64, &
      -0.18583316232731495_real64]
  real(real64) :: worst
  integer :: info
  character(len=40) :: found

  call grad_logistic(given_1, given_2, given_3, got_1, got_2, info)
  if (info /= 0) then
    print '(a, i0, a)', 'grad_logistic: FAIL (info is ', info, ')'
    stop 1
  end if
  worst = 0
  call compare([got_1], 1, want_1)
  call compare(got_2, 1, want_2)
  write (found, '(es8.1e2)') worst
  if (worst <= 1e-09_real64) then
    print '(a)', 'grad_logistic: pass (largest difference ' // trim(adjustl(found)) // ', allowed 1e-09)'
  else
    print '(a)', 'grad_logistic: FAIL (largest difference ' // trim(adjustl(found)) // ', allowed 1e-09)'
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

end program grad_logistic_check
