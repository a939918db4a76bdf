import type { Argument, Command, Option } from 'commander'
import { EXIT } from '../../core/errors.ts'
import { shellWord } from '../../core/machine.ts'
import type { Output } from '../ports.ts'

export type Shell = 'bash' | 'zsh' | 'fish'

/** A place on the command line: the commands so far, and the words that may come next. */
interface Place {
  /** The names of the commands: `` for the program itself, `sessions list`. */
  readonly path: string
  readonly words: readonly { readonly word: string; readonly about: string }[]
  /** The options whose value follows as a word of its own; each with the values there are, none: a file. */
  readonly values: readonly { readonly flags: readonly string[]; readonly choices: readonly string[] }[]
  /** The choices of its first argument. */
  readonly choices: readonly string[]
}

/** Prints the completions of a shell, made of the commands that there are: a new one is in them by itself. */
export function printCompletions(program: Command, shell: Shell, { stdout }: { readonly stdout: Output }): number {
  const places = placesOf(program, '')
  stdout.write({ bash, zsh, fish }[shell](program.name(), places))
  return EXIT.ok
}

function placesOf(command: Command, path: string): readonly Place[] {
  const help = Object.assign(command.createHelp(), { showGlobalOptions: true })
  const commands = help.visibleCommands(command)
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
  const words = [
    ...commands.map((one) => ({ word: one.name(), about: one.description() })),
    ...options.flatMap((one) => flagsOf(one).map((word) => ({ word, about: one.description }))),
  ]
  const values = options
    .filter((one) => one.required || one.optional)
    .map((one) => ({ flags: flagsOf(one), choices: one.argChoices ?? [] }))
  const [first] = command.registeredArguments as readonly Argument[]
  const place = { path, words, values, choices: first?.argChoices ?? [] }
  const below = commands.filter((one) => one.name() !== 'help')
  return [place, ...below.flatMap((one) => placesOf(one, `${path} ${one.name()}`.trim()))]
}

function flagsOf({ short, long }: Option): readonly string[] {
  return [short, long].filter((flag): flag is string => flag !== undefined && flag !== null)
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}

/** Returns the loop that finds the place: the words of the line that are commands, as far as they are known. */
function walk(places: readonly Place[], { count, word }: { readonly count: string; readonly word: string }): string {
  const flags = [...new Set(places.flatMap(({ values }) => values.flatMap((one) => one.flags)))]
  const paths = places.map(({ path }) => path).filter((path) => path !== '')
  return `  local i word place='' next value=''
  for ((i = 1; i < ${count}; i++)); do
    word="${word}"
    if [[ -n $value ]]; then value=''; continue; fi
    case " ${flags.join(' ')} " in *" $word "*) value=1; continue ;; esac
    [[ $word == -* ]] && continue
    next="\${place:+$place }$word"
    case "$next" in ${paths.map(shellWord).join(' | ')}) place="$next" ;; esac
  done`
}

function bash(name: string, places: readonly Place[]): string {
  const cases = places.flatMap(({ path, words, values, choices }) => [
    ...values.map(({ flags, choices: given }) => {
      const patterns = flags.map((flag) => shellWord(`${path}|${flag}`)).join(' | ')
      return `    ${patterns}) words=${shellWord(given.join(' '))} ;;`
    }),
    `    ${shellWord(`${path}|`)}) words=${shellWord([...words.map(({ word }) => word), ...choices].join(' '))} ;;`,
  ])
  return `# Completions of ${name} for bash. In ~/.bashrc: source <(${name} completions bash)
_${name}() {
  local words='' current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
${walk(places, { count: 'COMP_CWORD', word: `\${COMP_WORDS[i]}` })}
  [[ -n $value ]] || before=''
  case "$place|$before" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`
}

function zsh(name: string, places: readonly Place[]): string {
  const described = ({ word, about }: Place['words'][number]): string =>
    shellWord(`${word}:${firstLine(about).replaceAll(':', '\\:')}`)
  const cases = places.flatMap(({ path, words, values, choices }) => [
    ...values.map(({ flags, choices: given }) => {
      const patterns = flags.map((flag) => shellWord(`${path}|${flag}`)).join('|')
      return `    ${patterns}) given=(${given.map(shellWord).join(' ')}) ;;`
    }),
    `    ${shellWord(`${path}|`)}) found=(${words.map(described).join(' ')}) given=(${choices.map(shellWord).join(' ')}) ;;`,
  ])
  return `#compdef ${name}
# Completions of ${name} for zsh. In ~/.zshrc, after compinit: source <(${name} completions zsh)
_${name}() {
  setopt local_options KSH_ARRAYS
  local -a found given
  local before="\${words[CURRENT-2]}"
${walk(places, { count: 'CURRENT - 1', word: `\${words[i]}` })}
  [[ -n $value ]] || before=''
  case "$place|$before" in
${cases.join('\n')}
  esac
  unsetopt KSH_ARRAYS
  (( $#found )) && _describe ${name} found
  (( $#given )) && compadd -- $given
  (( $#found + $#given )) || _files
}
if (( $+functions[compdef] )); then compdef _${name} ${name}; fi
`
}

function fish(name: string, places: readonly Place[]): string {
  const paths = places.map(({ path }) => path).filter((path) => path !== '')
  const flags = [...new Set(places.flatMap(({ values }) => values.flatMap((one) => one.flags)))]
  const start = `complete -c ${name}`
  const lines = places.flatMap(({ path, words, values, choices }) => {
    const at = `${start} -n ${shellWord(`__${name}_at "${path}"`)}`
    const line = ({ word, about }: Place['words'][number]): string => {
      if (!word.startsWith('-')) return `${at} -f -a ${shellWord(word)} -d ${shellWord(firstLine(about))}`
      const flag = word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`
      const taken = values.find((one) => one.flags.includes(word))?.choices
      const value = taken === undefined ? '' : taken.length > 0 ? ` -x -a ${shellWord(taken.join(' '))}` : ' -r'
      return `${at} ${flag}${value} -d ${shellWord(firstLine(about))}`
    }
    return [...words.map(line), ...choices.map((choice) => `${at} -f -a ${shellWord(choice)}`)]
  })
  return `# Completions of ${name} for fish: ${name} completions fish > ~/.config/fish/completions/${name}.fish
function __${name}_at
  set -l place
  set -l value
  for word in (commandline -opc)[2..-1]
    if test -n "$value"; set value; continue; end
    if contains -- $word ${flags.join(' ')}; set value 1; continue; end
    string match -q -- '-*' $word; and continue
    set -l next (string join ' ' $place $word)
    contains -- $next ${paths.map(shellWord).join(' ')}; and set place $next
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`
}
