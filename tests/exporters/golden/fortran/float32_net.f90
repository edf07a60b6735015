! the gradient of Net, derived by symgrad 0.1.0
! function: Net, SHA-256 of its source fe3d7260b0bd6706
! flags: grad_position=None, weights=first.weight; first.bias; second.weight; second.bias,
!     with_value=True, mode=auto
! inputs: x: float32[2, 3], first.weight (a weight): float32[4, 3], first.bias (a weight):
!     float32[4], second.weight (a weight): float32[2, 4], second.bias (a weight): float32[2]
! outputs: float32[2, 2], float32[4, 3], float32[4], float32[2, 4], float32[2]
! operations: 2 add, 2 cast, 11 einsum, 1 square, 1 subtract, 1 tanh
! check: 30 values to 1e-04; finite differences: off by 2e-07
! build and check: gfortran grad_Net.f90 -o grad_Net_check && ./grad_Net_check

module grad_Net_module
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  implicit none
  private
  public :: grad_Net

contains

  ! The gradient of Net.
  ! info is 0 where all is well.
  pure subroutine grad_Net(x, first_weight, first_bias, second_weight, second_bias, f, df_dfirst_weight, &
      df_dfirst_bias, df_dsecond_weight, df_dsecond_bias, info)
    real(real32), intent(in) :: x(2, 3)
    real(real32), intent(in) :: first_weight(4, 3)
    real(real32), intent(in) :: first_bias(4)
    real(real32), intent(in) :: second_weight(2, 4)
    real(real32), intent(in) :: second_bias(2)
    real(real32), intent(out) :: f(2, 2)
    real(real32), intent(out) :: df_dfirst_weight(4, 3)
    real(real32), intent(out) :: df_dfirst_bias(4)
    real(real32), intent(out) :: df_dsecond_weight(2, 4)
    real(real32), intent(out) :: df_dsecond_bias(2)
    integer, intent(out) :: info
    integer(int64) :: i, j, k
    real(real32) :: v2, v6, v7
    real(real64) :: v8, v9, v10
    real(real32) :: v0(2, 4), v1(2, 4), v3(2, 2), v4(2, 4), v5(2, 4)
    info = 0
    v0 = 0.0_real32
    do i = 1, 4
      do j = 1, 3
        do k = 1, 2
          v0(k, i) = v0(k, i) + first_weight(i, j)*x(k, j)
        end do
      end do
    end do
    do i = 1, 4
      do j = 1, 2
        v2 = v0(j, i) + first_bias(i)
        v1(j, i) = tanh(v2)
      end do
    end do
    v3 = 0.0_real32
    do i = 1, 2
      do j = 1, 4
        do k = 1, 2
          v3(k, i) = v3(k, i) + second_weight(i, j)*v1(k, j)
        end do
      end do
    end do
    do i = 1, 2
      do j = 1, 2
        f(j, i) = v3(j, i) + second_bias(i)
      end do
    end do
    v4 = 0.0_real32
    do i = 1, 4
      do j = 1, 2
        do k = 1, 2
          v4(k, i) = v4(k, i) + second_weight(j, i)
        end do
      end do
    end do
    do i = 1, 4
      v8 = 0.0_real64
      do j = 1, 2
        v6 = v1(j, i)*v1(j, i)
        v7 = 1.0_real32 - v6
        v5(j, i) = v7*v4(j, i)
        v8 = v8 + real(v5(j, i), real64)
      end do
      df_dfirst_bias(i) = real(v8, real32)
    end do
    do i = 1, 4
      do j = 1, 2
        v9 = 0.0_real64
        do k = 1, 2
          v9 = v9 + real(v1(k, i), real64)
        end do
        df_dsecond_weight(j, i) = real(v9, real32)
      end do
    end do
    do i = 1, 3
      do j = 1, 4
        v10 = 0.0_real64
        do k = 1, 2
          v10 = v10 + real(x(k, i)*v5(k, j), real64)
        end do
        df_dfirst_weight(j, i) = real(v10, real32)
      end do
    end do
    do i = 1, 2
      df_dsecond_bias(i) = 2.0_real32
    end do
  end subroutine grad_Net

end module grad_Net_module

! Compares grad_Net with what the kernel of symgrad computed when this was written.
program grad_Net_check
  use grad_Net_module, only: grad_Net
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_is_nan
  implicit none
  real(real32), parameter :: given_1(2, 3) = reshape([-0.80193144_real32, 0.42044523_real32, -1.3243589_real32, &
      1.1360465_real32, -0.24836162_real32, 0.1097064_real32], [2, 3])
  real(real32), parameter :: given_2(4, 3) = reshape([-0.80193144_real32, 0.42044523_real32, -0.5526473_real32, &
      1.634783_real32, -1.3243589_real32, 1.1360465_real32, -0.7847804_real32, 0.27276877_real32, -0.24836162_real32, &
      0.1097064_real32, 0.7487458_real32, -1.2333287_real32], [4, 3])
  real(real32), parameter :: given_3(4) = [-0.9582652_real32, 1.6000191_real32, 0.20288244_real32, -1.7321348_real32]
  real(real32), parameter :: given_4(2, 4) = reshape([-0.083696194_real32, -0.7133134_real32, -1.163226_real32, &
      0.55337846_real32, -0.6292881_real32, -0.06308597_real32, -0.48800582_real32, -0.5894313_real32], [2, 4])
  real(real32), parameter :: given_5(2) = [0.40963784_real32, 0.8298553_real32]
  real(real32) :: got_1(2, 2)
  real(real64), parameter :: want_1(4) = [0.5558560490608215_real64, 0.5687502026557922_real64, &
      0.10796135663986206_real64, 2.5459394454956055_real64]
  real(real32) :: got_2(4, 3)
  real(real64), parameter :: want_2(12) = [0.11074510216712952_real64, 0.17799432575702667_real64, &
      0.034525591880083084_real64, 0.4531642496585846_real64, 0.7461144328117371_real64, 0.14045225083827972_real64, &
      -0.05398856848478317_real64, -0.25139120221138_real64, -0.009188361465930939_real64, &
      -0.22307422757148743_real64, -0.610115647315979_real64, -0.057864513248205185_real64]
  real(real32) :: got_3(4)
  real(real64), parameter :: want_3(4) = [-0.1549973040819168_real64, -0.5729207992553711_real64, &
      -0.49253401160240173_real64, -0.5559908151626587_real64]
  real(real32) :: got_4(2, 4)
  real(real64), parameter :: want_4(8) = [-0.08779299259185791_real64, 0.7331513166427612_real64, &
      0.21983122825622559_real64, -1.6974215507507324_real64, -0.08779299259185791_real64, 0.7331513166427612_real64, &
      0.21983122825622559_real64, -1.6974215507507324_real64]
  real(real32) :: got_5(2)
  real(real64), parameter :: want_5(2) = 2.0_real64
  real(real64) :: worst
  integer :: info
  character(len=40) :: found

  call grad_Net(given_1, given_2, given_3, given_4, given_5, got_1, got_2, got_3, got_4, got_5, info)
  if (info /= 0) then
    print '(a, i0, a)', 'grad_Net: FAIL (info is ', info, ')'
    stop 1
  end if
  worst = 0
  call compare(reshape(real(reshape(got_1, [2, 2], order=[2, 1]), real64), [4]), 1, want_1)
  call compare(reshape(real(reshape(got_2, [3, 4], order=[2, 1]), real64), [12]), 1, want_2)
  call compare(real(got_3, real64), 1, want_3)
  call compare(reshape(real(reshape(got_4, [4, 2], order=[2, 1]), real64), [8]), 1, want_4)
  call compare(real(got_5, real64), 1, want_5)
  write (found, '(es8.1e2)') worst
  if (worst <= 0.0001_real64) then
    print '(a)', 'grad_Net: pass (largest difference ' // trim(adjustl(found)) // ', allowed 1e-04)'
  else
    print '(a)', 'grad_Net: FAIL (largest difference ' // trim(adjustl(found)) // ', allowed 1e-04)'
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

end program grad_Net_check
