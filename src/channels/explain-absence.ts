import type { MessageLink } from '../core/message-link.ts'

/** The facts about one account that explain why a message never came. */
export interface AccountState {
  readonly channel: string
  readonly account: string
  readonly status: 'starting' | 'up' | 'down'
  readonly detail?: string
  readonly lastTrouble?: { readonly detail: string; readonly at: number }
  readonly hints: readonly string[]
  readonly unknown: Readonly<Record<string, number>>
}

export interface Absence {
  /** The message asked about; null if only an id was given. */
  readonly link: MessageLink | null
  /** The name of the link's platform. */
  readonly name: string | undefined
  /** Something was stored from the chat the link names. */
  readonly chatKnown: boolean
  /** The messages that the link's platform withholds from a bot without notice. */
  readonly keepsBack: readonly string[]
}

/**
 * Returns the possible reasons why a message was never received, likeliest first. No decision trace helps, because
 * nothing was ever decided.
 */
export function explainAbsence(
  accounts: readonly AccountState[],
  { link, name, chatKnown, keepsBack }: Absence,
): readonly string[] {
  const concerned = link ? accounts.filter(({ channel }) => channel === link.channel) : accounts
  if (link && concerned.length === 0) {
    const { channel } = link
    return [`No ${name ?? channel} account is configured; add one under channels.${channel}.`]
  }
  const reasons = [
    ...concerned.flatMap(troubleOf),
    ...(link?.chat !== undefined && !chatKnown ? [STRANGE_CHAT] : []),
    ...concerned.flatMap(droppedBy),
    ...keepsBack,
  ]
  return [...reasons, `${reasons.length > 0 ? 'Otherwise it' : 'It'} ${ELSE}`]
}

const STRANGE_CHAT =
  'Nothing was ever stored from that chat: the bot may not be a member of it, or may not read it. Add it there, or look at its rights.'
const ELSE =
  'was written while the bot was not in the chat, or too long before the daemon last came up for the platform to give it again, or the name is not right.'

function troubleOf(state: AccountState): readonly string[] {
  const { status, detail, lastTrouble, hints } = state
  const name = nameOf(state)
  const said = detail === undefined ? '' : `: ${detail}`
  return [
    ...(status === 'down' ? [`${name} is down${said}`] : []),
    ...(status === 'starting' ? [`${name} is still coming up${said}`] : []),
    ...(status === 'up' && lastTrouble
      ? [`${name} was in trouble until after ${new Date(lastTrouble.at).toISOString()}: ${lastTrouble.detail}`]
      : []),
    ...hints.map((hint) => `${name}: ${hint}`),
  ]
}

function droppedBy(state: AccountState): readonly string[] {
  const kinds = Object.entries(state.unknown)
  if (kinds.length === 0) return []
  const list = kinds.map(([kind, count]) => `${kind} (${count})`).join(', ')
  return [`${nameOf(state)} received events it does not understand and dropped them: ${list}.`]
}

function nameOf({ channel, account }: AccountState): string {
  return account === 'default' ? channel : `${channel}@${account}`
}
