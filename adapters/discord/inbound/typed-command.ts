/** A command as people type it, until the platform's own slash commands are registered. */
export interface TypedCommand {
  readonly name: string
  readonly args: string
}

interface CommandFacts {
  /** Returns true for a mention of this bot, such as `<@900>`. */
  isOwn(this: void, mark: string): boolean
  readonly addressed: boolean
  readonly commands: ReadonlySet<string> | undefined
}

/**
 * `!name …` anywhere, and `/name …` where the bot is addressed, behind its mention or without. Only names that are
 * ours: the mark is shared with other bots, and what is for them must stay a plain message.
 */
export function readCommand(text: string, { isOwn, addressed, commands }: CommandFacts): TypedCommand | null {
  const match = /^([!/])([a-z][a-z0-9_-]{0,31})(?=$|\s)([\s\S]*)$/i.exec(withoutMarks(text, isOwn))
  if (match === null) return null
  const [, mark, word = '', rest = ''] = match
  const name = word.toLowerCase()
  if (mark === '/' && !addressed) return null
  // Before the names are known, `!word` in a guild is as likely meant for another bot.
  if (commands === undefined ? !addressed : !commands.has(name)) return null
  return { name, args: rest.trim() }
}

const MARK = /^\s*(<@[!&]?\d{1,20}>)\s*/

function withoutMarks(text: string, isOwn: CommandFacts['isOwn']): string {
  let bare = text
  for (let found = MARK.exec(bare); found?.[1] !== undefined && isOwn(found[1]); found = MARK.exec(bare))
    bare = bare.slice(found[0].length)
  return bare
}
