/** Commands of other programs or of the chat, as people type them here, and the remedy. */
const OTHER_WORDS: readonly (readonly [name: RegExp, remedy: string])[] = [
  [/^budgets?$/, '"parley status" shows what is spent of each budget'],
  [/^(doctor|diagnose|health)$/, '"parley config check" looks at the configuration, "parley status" at what runs'],
  [/^(init|setup|wizard|configure|onboard|install)$/, '"parley start" says what is missing to begin'],
  [/^(stop|restart|quit)$/, 'Ctrl-C, or the service manager, ends a daemon'],
  [/^reload$/, 'it is "parley config reload"'],
  [/^me$/, 'on the machine say who it is: "parley forget person <channel>:<id>"'],
  [/^version$/, 'it is "parley --version"'],
  [/^logs?$/, 'the log goes to standard error, under systemd to the journal'],
]

/** Returns what the parser writes; where it has guessed at another command, or at none, the one that is meant. */
export function withRemedy(text: string): string {
  const typed = /^error: unknown command '([^']*)'/.exec(text)?.[1]
  const remedy = typed && OTHER_WORDS.find(([name]) => name.test(typed))?.[1]
  return remedy ? `error: unknown command '${typed}'; ${remedy}\n` : text
}
