/** Commands of other programs or of the chat, as people type them here, and the remedy. */
const OTHER_WORDS: readonly (readonly [name: RegExp, remedy: string])[] = [
  [/^(budgets?|usage|costs?)$/, '"parley status" shows what is spent, of each budget too'],
  [/^(diagnose|diagnostics?|health|check)$/, 'it is "parley doctor"'],
  [/^hooks?$/, '"parley config explain" shows the hooks'],
  [/^(setup|wizard|configure|onboard|onboarding)$/, 'it is "parley init"'],
  [/^(bugreport|report|info)$/, '"parley support" writes a file for a report'],
  [/^(install|daemon)$/, 'it is "parley service install"'],
  [/^(update|self-update)$/, 'it is "parley upgrade"'],
  [/^completion$/, 'it is "parley completions bash", "zsh" or "fish"'],
  [/^(stop|restart|quit)$/, 'Ctrl-C, or the service manager, ends a daemon'],
  [/^reload$/, 'it is "parley config reload"'],
  [/^me$/, 'on the machine say who it is: "parley forget person <channel>:<id>"'],
  [
    /^(last|since|\d+[mhdw])$/,
    'on the machine name what is meant: "parley forget message <number>", or "parley forget chat <name> --since 2h"',
  ],
  [/^history$/, 'it is "parley sessions history <name>"'],
  [/^(move|fork|rename|title)$/, 'it is "parley sessions move", "fork" or "rename"'],
  [/^(encrypt|decrypt)$/, 'it is "parley store encrypt" or "parley store decrypt"'],
  [/^(correct|remember)$/, 'that is for the chat: /remember <text>, /memory correct <number> <text>'],
  [/^(undo|retry|resume|remind|side|mute|whoami)$/, 'that is a command for the chat; /help there says more'],
  [/^version$/, 'it is "parley --version"'],
  [/^logs?$/, 'the log goes to standard error, under systemd to the journal'],
]

/** The programs are known by their files. */
const NO_PROGRAM =
  'error: name the folder or the file alone, as in "parley import <folder>"; whose it is shows by its files'

/** Matches the error for a text in place of an option: it has several words, or begins with a digit. */
const DASHED_TEXT = /^error: unknown option '-+(?:\d|.*\s.*'$)/m
const BEHIND_DASHES =
  'error: a text that begins with "-" goes behind --, as in: parley notify <place> -- "-5 degrees"\n'

/** Returns what the parser writes; where it has guessed at another command, or at none, the one that is meant. */
export function withRemedy(text: string): string {
  const typed = /^error: unknown command '([^']*)'/.exec(text)?.[1]
  const remedy = typed && OTHER_WORDS.find(([name]) => name.test(typed))?.[1]
  if (remedy) return `error: unknown command '${typed}'; ${remedy}\n`
  if (DASHED_TEXT.test(text)) return BEHIND_DASHES
  return text.replace(/^error: too many arguments for 'import'\..*/, NO_PROGRAM)
}
