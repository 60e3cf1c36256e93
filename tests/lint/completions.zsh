# Sources the zsh completion with stubs in the place of zsh's own functions, and prints what
# these are given. Usage: zsh -f completions.zsh BLKTOP
emulate zsh
blktop=$1
words=($blktop '') CURRENT=2
typeset -A opt_args
_call_program() { shift; "$@" }
_arguments() { print -rl -- "$@" }
_files() { }
_describe() { # _describe WHAT ARRAY
	local -a list
	list=(${(P)2})
	print -rl -- "$label: "${^list}
}
source completions/_blktop
label=views _blktop_views
opt_args[--view]=spans
label=columns _blktop_columns
opt_args=()
words=($blktop report --sort '')
label='columns of report' _blktop_columns
words=($blktop '')
label=commands _blktop_operands
