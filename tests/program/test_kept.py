import gc
import weakref

from symgrad.program.kept import kept


class Owner:
    pass


@kept
def itself(owner):
    return owner


@kept
def nothing_yet(owner):
    return []


def test_it_is_made_once_of_each_owner():
    one, other = Owner(), Owner()
    nothing_yet(one).append(1)
    assert (nothing_yet(one), nothing_yet(other)) == ([1], [])


def test_an_owner_that_is_given_back_is_no_cycle():
    owner = Owner()
    assert itself(owner) is itself(owner) is owner
    gone = weakref.ref(owner)
    gc.disable()
    try:
        del owner
        assert gone() is None
    finally:
        gc.enable()


def test_what_leads_back_to_its_owner_goes_with_it():
    @kept
    def leading_back(owner):
        return [owner]

    owner = Owner()
    leading_back(owner)
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_functions_of_one_name_keep_their_own():
    def made(value):
        @kept
        def of(owner):
            return value

        return of

    owner, one, other = Owner(), made(1), made(2)
    assert (one(owner), other(owner)) == (1, 2)
