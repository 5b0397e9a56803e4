! dd does nothing with its argument, which the compiler of its caller cannot know.
SUBROUTINE dd(buf)
  REAL :: buf
  IF (.FALSE.) buf = 0
END SUBROUTINE dd
