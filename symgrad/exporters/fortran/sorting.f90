! Whether a stands before b in sorted order: NaN comes last.
elemental function sorts_before(a, b) result(y)
  real(real64), intent(in) :: a, b
  logical :: y
  y = a < b .or. (ieee_is_nan(b) .and. .not. ieee_is_nan(a))
end function sorts_before

! Whether a stands before b in sorted order.
elemental function sorts_before_int64(a, b) result(y)
  integer(int64), intent(in) :: a, b
  logical :: y
  y = a < b
end function sorts_before_int64

! Whether a stands before b in sorted order: false comes first.
elemental function sorts_before_logical(a, b) result(y)
  logical, intent(in) :: a, b
  logical :: y
  y = b .and. .not. a
end function sorts_before_logical

! The places, counted from 0, of elements in sorted order, equal ones as they stand: a merge sort from the bottom up.
pure subroutine argsort(x, places, info)
  real(real64), intent(in) :: x(:)
  integer(int64), intent(out) :: places(:)
  integer, intent(inout) :: info
  integer(int64), allocatable :: merged(:)
  integer(int64) :: n, width, first, middle, last, i, j, k
  logical :: right
  integer :: failed
  n = size(x, kind=int64)
  allocate(merged(n), stat=failed)
  if (failed /= 0) then
    info = status_memory
    return
  end if
  do i = 1, n
    places(i) = i - 1
  end do
  width = 1
  do while (width < n)
    do first = 1, n, 2*width
      middle = min(first + width, n + 1)
      last = min(first + 2*width, n + 1)
      i = first
      j = middle
      do k = first, last - 1
        right = i >= middle
        if (.not. right .and. j < last) right = sorts_before(x(places(j) + 1), x(places(i) + 1))
        if (right) then
          merged(k) = places(j)
          j = j + 1
        else
          merged(k) = places(i)
          i = i + 1
        end if
      end do
    end do
    places = merged
    width = 2*width
  end do
end subroutine argsort

! How many sorted knots stand before a value; where also_equal, those that are equal to it count too.
pure function searchsorted(knots, value, also_equal) result(first)
  real(real64), intent(in) :: knots(:), value
  logical, intent(in) :: also_equal
  integer(int64) :: first, last, middle
  logical :: before
  first = 0
  last = size(knots, kind=int64)
  do while (first < last)
    middle = (first + last)/2
    if (also_equal) then
      before = .not. sorts_before(value, knots(middle + 1))
    else
      before = sorts_before(knots(middle + 1), value)
    end if
    if (before) then
      first = middle + 1
    else
      last = middle
    end if
  end do
end function searchsorted
