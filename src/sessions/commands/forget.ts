import { formatAddress } from '../../core/address.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { countWords, heldWords, receiptWords, whoseWords } from '../../core/forget-words.ts'
import type { ForgetReceipt, ForgetSubject } from '../../core/forgetting.ts'
import type { PersonId } from '../../core/ids.ts'
import type { MessageLink } from '../../core/message-link.ts'
import { senderKey } from '../../core/platform-id.ts'
import type { Store } from '../../store/store.ts'
import type { ForgettingService } from '../forgetting/forgetting.ts'
import type { SubjectPorts } from '../forgetting/named-person.ts'
import { subjectOf } from '../forgetting/read-subject.ts'
import type { OpenPorts } from '../turns/open-session.ts'
import { findMessages, lastMessage } from './find-messages.ts'
import { sessionWithOlder } from './older-conversation.ts'

export interface ForgetCommandDeps extends SubjectPorts, OpenPorts {
  readonly store: Store
  readonly forgetting: ForgettingService
  /** Returns the zone in which a person writes times. */
  zoneOf(this: void, person: PersonId | undefined): string
  /** Reads a link to a message in any platform's form. */
  readLink(this: void, text: string): MessageLink | null
}

/**
 * `/forget` takes what was said out of every store, for good: everybody their own words, an owner anything. One message
 * goes at once; anything larger is shown first and goes with `yes`.
 */
export function forgetCommand(deps: ForgetCommandDeps): ChatCommand {
  const reading = new Set<string>()
  return {
    name: 'forget',
    description: 'Have me forget a message, your words or this chat, for good',
    args: 'last, me, chat or a span such as 2h; nothing in reply to a message',
    who: 'anyone',
    run: (call) => oneAtATime(call, reading, () => forget(call, deps)),
  }
}

/** Everything on record is read for it: each person has it read once at a time. */
async function oneAtATime(
  { decision: { identity }, dispatch: { event } }: CommandCall,
  reading: Set<string>,
  run: () => Promise<string>,
): Promise<string> {
  const asker = identity.person ?? senderKey(event.address.channel, event.sender)
  if (reading.has(asker)) return STILL_READING
  reading.add(asker)
  try {
    return await run()
  } finally {
    reading.delete(asker)
  }
}

const STILL_READING = 'I am still looking for what you asked me to forget before: ask again once I have answered that.'

async function forget(call: CommandCall, deps: ForgetCommandDeps): Promise<string> {
  const { forgetting, store, readLink } = deps
  // The places of files are for an owner, in private.
  const owner = call.decision.identity.role === 'owner'
  const whole = owner && call.dispatch.event.address.chatType === 'direct'
  const before = await forgetting.known(call.inboxId)
  const shown = (receipt: ForgetReceipt): ForgetReceipt => (owner ? receipt : withoutSent(receipt))
  if (before) return receiptWords(shown(before), whole).join('\n')
  const { named, here, confirmed, ...asked } = await subjectOf(call, {
    ...deps,
    findMessages: (asked) => findMessages(store.read, asked),
    lastMessage: (place, isMeant) => lastMessage(store.read, place, isMeant),
    readLink,
  })
  const target = await withSession(asked, call, deps)
  const meant = besideTopics(target, call)
  if (target.kind !== 'message' && !confirmed) {
    const preview = previewWords(shown(await forgetting.preview(target)), call, whole)
    const isNamed = target.kind === 'person' && owner && !['', 'me'].includes(named.toLowerCase())
    return [...(isNamed ? [whoseWords(target)] : []), ...meant, preview].join('\n')
  }
  return [...receiptWords(shown(await forgetting.forget(call.inboxId, target)), whole), ...meant].join('\n')
}

/** Returns a chat with its session, which nothing else names where nobody has said anything there. */
async function withSession<Target extends ForgetSubject>(
  target: Target,
  call: CommandCall,
  deps: ForgetCommandDeps,
): Promise<Target> {
  if (target.kind !== 'chat' || call.decision.route.scope.values.chat === undefined) return target
  const session = await deps.store.write((tx) => sessionWithOlder(tx, call, deps))
  return session === undefined ? target : { ...target, session: session.id }
}

/** In the General topic of a forum people may think that the chat as a whole is meant: what takes all is named. */
function besideTopics(target: ForgetSubject, { dispatch: { event } }: CommandCall): readonly string[] {
  if (!('place' in target) || !target.place?.root) return []
  const { topic: _topic, ...chat } = event.address
  const all =
    target.kind === 'chat' ? `\`parley forget chat ${formatAddress(chat)}\` on my machine` : '`/forget me`, everywhere,'
  return [`You mean the General topic alone, not the topics beside it: ${all} takes these too.`]
}

/** Texts are repetitions in whatever chat: how many there are says whether somebody wrote the same elsewhere. */
function withoutSent({ counts, ...receipt }: ForgetReceipt): ForgetReceipt {
  return { ...receipt, counts: { ...counts, sent: 0, notSent: 0 } }
}

function previewWords(receipt: ForgetReceipt, { args }: CommandCall, whole: boolean): string {
  const found = countWords(receipt.counts)
  if (found.length === 0) return 'There is nothing of that left that I know.'
  const { sessions } = receipt.counts
  // Commands are in none.
  const where = sessions === 0 ? '' : ` in ${sessions} ${sessions === 1 ? 'conversation' : 'conversations'}`
  return [
    `That is${where}: ${found.join(', ')}, and what was made of them.`,
    ...heldWords(receipt, whole),
    `Nothing was removed yet. It cannot be undone: \`/forget ${args.trim()} yes\` does it.`,
  ].join('\n')
}
