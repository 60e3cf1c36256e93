"""What metadata of traces that tests make begin with, in CTF 1.8: integers of whole bytes, u8 to u64 and i8 to i64."""
BEGIN = "/* CTF 1.8 */\n" + "".join(f"typealias integer {{ size = {n}; align = 8; signed = {int(sign == 'i')}; }} := {sign}{n};\n"
                                    for sign in "ui" for n in (8, 16, 32, 64))
