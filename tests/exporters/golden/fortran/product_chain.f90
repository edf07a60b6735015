! the gradient of product_chain, derived by symgrad 0.1.0
! function: product_chain, SHA-256 of its source 92a8091d102a87fa
! flags: grad_position=(0, 1, 2), mode=auto
! inputs: x: float, y: float, z: float
! outputs: float64, float64, float64
! operations: 1 add, 3 einsum, 2 multiply
! check: 3 values to 1e-09; finite differences: off by 3e-16
! build and check: gfortran grad_product_chain.f90 -o grad_product_chain_check &&
!     ./grad_product_chain_check

module grad_product_chain_module
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: grad_product_chain

contains

  ! The gradient of product_chain.
  ! info is 0 where all is well.
  pure subroutine grad_product_chain(x, y, z, df_dx, df_dy, df_dz, info)
    real(real64), intent(in) :: x
    real(real64), intent(in) :: y
    real(real64), intent(in) :: z
    real(real64), intent(out) :: df_dx
    real(real64), intent(out) :: df_dy
    real(real64), intent(out) :: df_dz
    integer, intent(out) :: info
    real(real64) :: v0, v1, v2, v3, v4
    info = 0
    v0 = x*x
    v1 = v0*y
    v2 = v0*z
    v3 = x*y*z
    v4 = v3 + v3
    df_dx = v4
    df_dy = v2
    df_dz = v1
  end subroutine grad_product_chain

end module grad_product_chain_module

! Compares grad_product_chain with what the kernel of symgrad computed when this was written.
program grad_product_chain_check
  use grad_product_chain_module, only: grad_product_chain
  use, intrinsic :: iso_fortran_env, only: real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_is_nan
  implicit none
  real(real64), parameter :: given_1 = 2.0_real64
  real(real64), parameter :: given_2 = 3.0_real64
  real(real64), parameter :: given_3 = 4.0_real64
  real(real64) :: got_1
  real(real64), parameter :: want_1(1) = [48.0_real64]
  real(real64) :: got_2
  real(real64), parameter :: want_2(1) = [16.0_real64]
  real(real64) :: got_3
  real(real64), parameter :: want_3(1) = [12.0_real64]
  real(real64) :: worst
  integer :: info
  character(len=40) :: found

  call grad_product_chain(given_1, given_2, given_3, got_1, got_2, got_3, info)
  if (info /= 0) then
    print '(a, i0, a)', 'grad_product_chain: FAIL (info is ', info, ')'
    stop 1
  end if
  worst = 0
  call compare([got_1], 1, want_1)
  call compare([got_2], 1, want_2)
  call compare([got_3], 1, want_3)
  write (found, '(es8.1e2)') worst
  if (worst <= 1e-09_real64) then
    print '(a)', 'grad_product_chain: pass (largest difference ' // trim(adjustl(found)) // ', allowed 1e-09)'
  else
    print '(a)', 'grad_product_chain: FAIL (largest difference ' // trim(adjustl(found)) // ', allowed 1e-09)'
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

end program grad_product_chain_check
