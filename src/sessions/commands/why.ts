import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { Identity } from '../../core/dispatch.ts'
import type { PersonId } from '../../core/ids.ts'
import { repliedTo } from '../../core/message.ts'
import type { MessageLink } from '../../core/message-link.ts'
import { AGED_OUT } from '../../core/operator.ts'
import { identifiesNobody, senderKey } from '../../core/platform-id.ts'
import { withLocalTimes } from '../../core/wall-time.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { describeRow, readRowFacts } from './describe-row.ts'
import { findMessages, recentMessages } from './find-messages.ts'
import { summarizeRow } from './summarize-row.ts'

export interface WhyDeps {
  readonly store: Pick<Store, 'read'>
  readonly channels: Channels
  /** Returns the zone in which a person reads times. */
  zoneOf(this: void, person: PersonId | undefined): string
  /** Returns the reasons why a message may not have reached the daemon. */
  unseen(asked: string | MessageLink): Promise<readonly string[]>
  /** Reads a link to a message in any platform's form. */
  readLink(text: string): MessageLink | null
}

/**
 * `/why` says in one sentence why a message was answered or not: the one that was replied to, or named by a link or an
 * id, else the last one of this chat. `/why trace` adds the stored decision trace. A reply to an answer asks about the
 * message it answered. Owners may ask about anything, everybody else about their own messages.
 */
export function whyCommand(deps: WhyDeps): ChatCommand {
  return {
    name: 'why',
    description: 'Why I answered, or did not',
    args: 'a link to the message you mean, unless you reply to it or mean the last one; trace for each step',
    who: 'anyone',
    private: true,
    async run(call) {
      const text = await why(call, deps)
      return text && withLocalTimes(text, deps.zoneOf(call.decision.identity.person))
    },
  }
}

async function why(call: CommandCall, { store, channels, unseen, readLink }: WhyDeps): Promise<string | null> {
  const { decision, dispatch } = call
  const { named, trace } = readArgs(call.args)
  const asked = named === '' ? quotedBy(call) : (readLink(named) ?? named)
  const owner = decision.identity.role === 'owner'
  const rows = asked ? await foundBy(call, asked, store.read) : await recentMessages(store.read, dispatch.event.address)
  const row = rows.find((found) => owner || wrote(channels, found, call))
  if (row) return explain(row, { read: store.read, owner, trace })
  if (!asked) return NOTHING_LATELY
  // A guest may not learn whether somebody else's message was received.
  if (!owner) return null
  const reasons = await unseen(asked)
  if (reasons[0]?.startsWith(AGED_OUT)) return reasons[0]
  return ['I have no record of that message: it never reached me.', ...reasons.map((reason) => `- ${reason}`)].join(
    '\n',
  )
}

/** A number is first of all one of this chat with this bot: others have messages of the same number. */
async function foundBy(
  { dispatch: { event } }: CommandCall,
  asked: string | MessageLink,
  read: StoreReader,
): Promise<readonly InboxRow[]> {
  const { channel, account, chat } = event.address
  const isNumber = typeof asked === 'string' && /^[\d.]+$/.test(asked)
  const here = isNumber ? await findMessages(read, { channel, account, chat, messageId: asked }) : []
  return here.length > 0 ? here : findMessages(read, asked)
}

const NOTHING_LATELY =
  'I know no recent message of this chat that you may ask about. Reply with `/why` to the one you mean, or give me a link to it.'

/** Splits the arguments: `trace` is the last word, the words before it name the message. */
function readArgs(args: string): { readonly named: string; readonly trace: boolean } {
  const words = args.split(/\s+/).filter((word) => word !== '')
  const trace = words.at(-1)?.toLowerCase() === 'trace'
  return { named: (trace ? words.slice(0, -1) : words).join(' '), trace }
}

interface Explanation {
  readonly read: StoreReader
  readonly owner: boolean
  readonly trace: boolean
}

async function explain(row: InboxRow, { read, owner, trace }: Explanation): Promise<string> {
  const facts = await readRowFacts(row, read)
  const summary = summarizeRow(row, { ...facts, settings: owner })
  if (trace)
    return [
      summary,
      '',
      ...describeRow(row, owner ? { ...facts, settings: true } : { denied: facts.denied, settings: false }),
    ].join('\n')
  return [summary, ...facts.denied.map(({ tool, reason }) => `✗ ${tool}: ${reason}`)].join('\n')
}

/** Returns the message replied to, in this chat with this bot: another has a message of the same number. */
function quotedBy({ dispatch: { event } }: CommandCall): MessageLink | undefined {
  const messageId = event.kind === 'command' ? repliedTo(event) : undefined
  const { channel, account, chat } = event.address
  return messageId === undefined ? undefined : { channel, account, chat, messageId }
}

/** An id that several people share proves nothing; one that holds in a single workspace counts with it (F-H04). */
function wrote(
  channels: Channels,
  { dispatch, decision }: InboxRow,
  { dispatch: asking, decision: asker }: CommandCall,
): boolean {
  const { sender, address } = dispatch.event
  const { sender: who, address: place } = asking.event
  if (identifiesNobody(channels, place.channel, who)) return false
  const same = senderKey(address.channel, sender) === senderKey(place.channel, who)
  return same && samePerson(decision.identity, asker.identity)
}

/** An id that changed hands does not show what its former owner wrote. */
function samePerson(one: Identity, other: Identity): boolean {
  return one.person === other.person
}
