# bash completion for blktop. Views and columns come from the program itself.

_blktop_words() { # _blktop_words OPTION...: the first words of what the program lists
	"${COMP_WORDS[0]}" "$@" 2>/dev/null | awk '{ print $1 }'
}

# Words that an option takes.
_blktop_choices() { # _blktop_choices OPTION
	"${COMP_WORDS[0]}" --print-options 2>/dev/null |
		awk -F '\t' -v option="$1" '$1 == option || $2 == option { print $6 }'
}

# What was given with an option before the cursor; nothing if it was not given.
_blktop_given() { # _blktop_given OPTION
	local i value=
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == "$1" ]] && value=${COMP_WORDS[i + 1]}
		[[ $value == = ]] && value=${COMP_WORDS[i + 2]}
	done
	printf '%s' "$value"
}

# The view that columns are of: --view, or what a subcommand's rows are.
_blktop_view() {
	local view
	view=$(_blktop_given --view)
	[[ -n $view || ${COMP_WORDS[1]} != report ]] || view=traces
	printf '%s' "$view"
}

# The fields of the metric on the command line; nothing if there is none.
_blktop_fields() {
	local metric
	metric=$(_blktop_given --metric)
	[[ -z $metric ]] || "${COMP_WORDS[0]}" --list-metrics 2>/dev/null |
		awk -v metric="$metric" '$1 == metric && match($0, /\(by [^)]*\)/) {
			print substr($0, RSTART + 4, RLENGTH - 5) }' | tr , '\n'
}

_blktop() {
	local cur prev view before
	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	# "--view=x" comes as three words.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $prev in
	--view | --list-columns)
		mapfile -t COMPREPLY < <(compgen -W "$(_blktop_words --list-views)" -- "$cur")
		return
		;;
	--presets | --recipe)
		before=
		[[ $cur == *,* ]] && before=${cur%,*},
		mapfile -t COMPREPLY < <(compgen -P "$before" -W "auto none $("${COMP_WORDS[0]}" --list-presets 2>/dev/null | sed '/^ /d; s/ .*//')" -- "${cur##*,}")
		return
		;;
	--columns)
		# A list: what is before the last comma stays.
		before=
		[[ $cur == *,* ]] && before=${cur%,*},
		view=$(_blktop_view)
		[[ -z $view ]] || mapfile -t COMPREPLY < <(compgen -P "$before" \
			-W "$(_blktop_words --list-columns "$view")" -- "${cur##*,}")
		return
		;;
	--filter | --sort)
		before=
		[[ $cur == -* ]] && before=-
		view=$(_blktop_view)
		[[ -z $view ]] || mapfile -t COMPREPLY < <(compgen -P "$before" \
			-W "$(_blktop_words --list-columns "$view")" -- "${cur#-}")
		return
		;;
	--metric)
		mapfile -t COMPREPLY < <(compgen -W "$(_blktop_words --list-metrics)" -- "$cur")
		return
		;;
	--where)
		mapfile -t COMPREPLY < <(compgen -W "$(_blktop_fields)" -- "$cur")
		return
		;;
	--baseline | --save-baseline)
		mapfile -t COMPREPLY < <(compgen -W \
			"$(ls "${XDG_STATE_HOME:-$HOME/.local/state}/blktop/baselines" 2>/dev/null)" -- "$cur")
		return
		;;
	--by)
		before=
		[[ $cur == *,* ]] && before=${cur%,*},
		mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(_blktop_fields)" -- "${cur##*,}")
		[[ ${#COMPREPLY[@]} -eq 0 ]] || return
		mapfile -t COMPREPLY < <(compgen -W "$(_blktop_choices --by)" -- "$cur")
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --print-options 2>/dev/null |
			sed -n 's/^[^\t]*\t--format\t//p' | tr ';' '\n' | sed 's/.*://')" -- "$cur")
		return
		;;
	--machine)
		mapfile -t COMPREPLY < <(compgen -W "$(_blktop_words --list-machines)" -- "$cur")
		return
		;;
	--spool)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	-o | --output | --log | --config | --spans | --thresholds)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	-*)
		# Words that it takes; none if nobody can guess its value: no file either.
		mapfile -t COMPREPLY < <(compgen -W "$(_blktop_choices "$prev")" -- "$cur")
		[[ ${#COMPREPLY[@]} -eq 0 ]] || return
		"${COMP_WORDS[0]}" --print-options 2>/dev/null |
			awk -F '\t' -v option="$prev" '$3 != "" && ($1 == option || $2 == option) { taken = 1 }
				END { exit !taken }' && return
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --print-options 2>/dev/null | cut -f 1,2)" \
			-- "$cur")
		return
	fi
	compopt -o filenames
	mapfile -t COMPREPLY < <(compgen -d -- "$cur"; compgen -f -X '!*.json' -- "$cur"
		compgen -f -X '!*.blkslice' -- "$cur")
	# The first word may be a subcommand.
	[[ $COMP_CWORD -gt 1 ]] ||
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$(_blktop_words --print-commands)" -- "$cur")
}

complete -F _blktop blktop
