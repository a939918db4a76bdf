/**
 * The default export of a file that is named under `tools.own`. An error that its code throws outside of a call, in a
 * timer or in a promise that nobody waits for, ends the daemon: catch it there.
 */
export interface OwnTools {
  readonly tools?: readonly OwnTool[]
  readonly commands?: readonly OwnCommand[]
}

/** A tool for the agents that have the group `own.<name>`. */
export interface OwnTool {
  /** Letters a-z, digits and single `_`, at most 64; no tool of Parley's own may have it. */
  readonly name: string
  /** Says to the model what the tool does and when it is of use. */
  readonly description: string
  /** A JSON Schema of the type `object`; absent: no arguments. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** `inside`: it touches nothing outside of the conversation, and needs nobody's yes. Default: `beyond`. */
  readonly reach?: 'inside' | 'beyond'
  /** False: no text of others is in its results, such as a page or a mail. Default: true, which lowers the turn. */
  readonly foreign?: boolean
  /** True: after a crash it may run again for the same call. Default: false, its outcome is unknown then. */
  readonly repeatable?: boolean
  /** The longest that one call may take, 1 to 3600; then the model is told that it has not answered. Default: 60. */
  readonly timeoutSeconds?: number
  /** Returns the text for the model; an error is shown to it by its message. */
  run(args: Readonly<Record<string, unknown>>, context: OwnToolContext): string | Promise<string>
}

export interface OwnToolContext {
  /** The same for a call that is repeated after a crash, and for no other. */
  readonly callId: string
  /** Aborts when the result is no longer wanted, also because its time is over. */
  readonly signal: AbortSignal
}

/** A command in chats, `/name arguments`. */
export interface OwnCommand {
  /** Letters a-z, digits and `_`, at most 32; no command of Parley's own may have it. */
  readonly name: string
  /** One line for `/help` and the menus. */
  readonly description: string
  /** Its arguments in words, such as `a number of sides`; absent: it has none. */
  readonly args?: string
  /** `anyone`: everybody who may talk there. Default: owners. */
  readonly who?: 'anyone' | 'owner'
  /** Returns the answer as Markdown, or null for none. After a crash it may run again. It is waited for up to a minute. */
  run(args: string): string | null | Promise<string | null>
}
