"""What `ugcl bench peers` compares: other libraries, one file each, and this one."""
