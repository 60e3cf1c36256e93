# bash completion for blktop. Views and columns come from the program itself.

_blktop_words() { # _blktop_words OPTION...: the first words of what the program lists
	"${COMP_WORDS[0]}" "$@" 2>/dev/null | awk '{ print $1 }'
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
		mapfile -t COMPREPLY < <(compgen -W 'system process thread cpu priority name second container' -- "$cur")
		return
		;;
	--only)
		mapfile -t COMPREPLY < <(compgen -W 'trace= span= pid= tid= service= operation=' -- "$cur")
		return
		;;
	--against)
		mapfile -t COMPREPLY < <(compgen -W 'usual before history' -- "$cur")
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --print-options 2>/dev/null |
			sed -n 's/^[^\t]*\t--format\t//p' | tr ';' '\n' | sed 's/.*://')" -- "$cur")
		return
		;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W 'auto never always 256 truecolor' -- "$cur")
		return
		;;
	--theme)
		mapfile -t COMPREPLY < <(compgen -W 'auto dark light mono' -- "$cur")
		return
		;;
	--size)
		mapfile -t COMPREPLY < <(compgen -W '80x24 120x40 140x45 200x50' -- "$cur")
		return
		;;
	--mouse)
		mapfile -t COMPREPLY < <(compgen -W 'on off' -- "$cur")
		return
		;;
	--reader)
		mapfile -t COMPREPLY < <(compgen -W 'auto native babeltrace2' -- "$cur")
		return
		;;
	--machine)
		mapfile -t COMPREPLY < <(compgen -W "$(_blktop_words --list-machines)" -- "$cur")
		return
		;;
	--at | --from | --to)
		mapfile -t COMPREPLY < <(compgen -W 'start end' -- "$cur")
		return
		;;
	--step)
		mapfile -t COMPREPLY < <(compgen -W '1ms 10ms 100ms 1s 10s 1m 10m' -- "$cur")
		return
		;;
	--log-level)
		mapfile -t COMPREPLY < <(compgen -W 'error note debug' -- "$cur")
		return
		;;
	--loglevel)
		mapfile -t COMPREPLY < <(compgen -W 'emerg alert crit err warning notice info debug' -- "$cur")
		return
		;;
	--snapshot)
		mapfile -t COMPREPLY < <(compgen -W 'new' -- "$cur")
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
		# A value that nobody can guess: no file either.
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
