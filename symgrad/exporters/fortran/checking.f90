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

! Element k, counted from 1, of an argument that is too large to be written out: spread evenly over the unit interval.
elemental function drawn(k) result(u)
  integer, intent(in) :: k
  real(real64) :: u
  u = mod(k*GOLDEN, 1.0_real64)
end function drawn
