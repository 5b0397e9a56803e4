program stdio_kill
  implicit none
  write (*, '(a)') 'a line'
  call die()
end program
