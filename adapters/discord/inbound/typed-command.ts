/** A command as people type it, until the platform's own slash commands are registered. */
export interface TypedCommand {
  readonly name: string
  readonly args: string
}

/**
 * `!name …` anywhere, and `/name …` where the bot is addressed, behind its mention or without. Only names that are
 * ours: the mark is shared with other bots, and what is for them must stay a plain message.
 */
export function readCommand(
  text: string,
  { botId, addressed, commands }: { botId: string; addressed: boolean; commands: ReadonlySet<string> | undefined },
): TypedCommand | null {
  const bare = text.replace(new RegExp(`^\\s*(?:<@!?${botId}>\\s*)+`), '')
  const match = /^([!/])([a-z][a-z0-9_-]{0,31})(?=$|\s)([\s\S]*)$/i.exec(bare)
  if (match === null) return null
  const [, mark, word = '', rest = ''] = match
  const name = word.toLowerCase()
  if (mark === '/' && !addressed) return null
  // Before the names are known, `!word` in a guild is as likely meant for another bot.
  if (commands === undefined ? !addressed : !commands.has(name)) return null
  return { name, args: rest.trim() }
}
