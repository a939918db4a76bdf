import { senderAuthor } from '../../core/author.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Identity } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import type { ForgetSubject } from '../../core/forgetting.ts'
import type { ChannelId, PersonId } from '../../core/ids.ts'
import type { InboundEvent, Sender } from '../../core/message.ts'
import {
  type AuthorId,
  foldPlatformId,
  isShared,
  isWellFormedId,
  NOBODY,
  nobodysId,
  platformIdOf,
} from '../../core/platform-id.ts'
import type { Store } from '../../store/store.ts'

export interface SubjectPorts {
  readonly store: Pick<Store, 'read'>
  readonly channels: Channels
  /** Returns all ids of a person, as participants are written. */
  idsOf(this: void, person: PersonId): Promise<readonly string[]>
  /** Returns the present identity of a platform id. */
  whoIs(this: void, platformId: string): Identity
}

type PersonSubject = Extract<ForgetSubject, { kind: 'person' }>

/** The form of a mention on platforms that write the id of the person. */
const MENTION = /^<@!?(?<id>[A-Z0-9]+)(?:\|[^>]*)?>$/i

/** Returns a person by name, by one of their ids or by a mention at a channel. Throws `not_found` and `invalid`. */
export async function personSubject(ports: SubjectPorts, asked: string, at?: ChannelId): Promise<PersonSubject> {
  const named = asked.trim()
  const { id } = (at && MENTION.exec(named)?.groups) || { id: undefined }
  if (id !== undefined) return ofId(ports, `${at}:${id}`)
  return /^[a-z][a-z0-9_-]*:./i.test(named) ? ofId(ports, named) : ofName(ports, named)
}

async function ofId(ports: SubjectPorts, named: string): Promise<PersonSubject> {
  const { channels, whoIs, idsOf } = ports
  const id = foldPlatformId(channels, named)
  const { person } = whoIs(id)
  if (person !== undefined) return ofPerson(person, [id], idsOf)
  refuseNobodys(channels, id)
  const whole = await withTeam(ports, id)
  await refuseBots(ports, whole)
  const theirs = whoIs(whole).person
  return theirs === undefined ? { kind: 'person', ids: [whole] } : ofPerson(theirs, [whole], idsOf)
}

async function ofName(ports: SubjectPorts, named: string): Promise<PersonSubject> {
  const { idsOf, whoIs } = ports
  const name = named.replace(/^@/, '').toLowerCase() as PersonId
  const known = (await idsOf(name)).length > 0
  // A name is the platform's for people: it is looked up once, and the id counts from then on.
  const found = named.startsWith('@') ? await calledSo(ports, name) : []
  const others = found.filter((id) => !known || whoIs(id).person !== name)
  if (known && others.length > 0)
    throw new ParleyError(
      'invalid',
      `My configuration has a person \`${name}\`, and somebody else is called @${name}: give me \`${name}\` for the first, and for the other their id: ${others.join(', ')}.`,
    )
  if (known) return ofPerson(name, [], idsOf)
  const [only] = others
  if (only !== undefined && others.length === 1) return ofId(ports, only)
  const why = others.length > 1 ? 'Several people have that name' : 'I know nobody of that name'
  throw new ParleyError('not_found', `${why}; give me their id as \`<channel>:<id>\`, which \`/why trace\` shows.`)
}

/** Throws `invalid` for an id under which no words of a person are on record: "nothing is left" would be no answer. */
function refuseNobodys({ platforms, traits }: Channels, named: string): void {
  const [channel = '', ...rest] = named.split(':')
  const id = rest.join(':')
  if (!platforms.includes(channel)) return
  const platform = traits(channel)
  const { ids } = platform
  if (/^(?:direct|group|channel):./.test(id) || ids.groupForm?.test(id))
    throw new ParleyError(
      'invalid',
      `${named} is a chat and no person: \`/forget chat\` there means it, and ${BY_NAME}.`,
    )
  if (isShared(ids, id)) throw new ParleyError('invalid', `${named} stands for many people: ${BY_MESSAGE}.`)
  if (!isWellFormedId(ids, id)) throw new ParleyError('invalid', `${nobodysId([platform], named)}.`)
}

const BY_NAME = '`parley forget chat <name>` on my machine'
const BY_MESSAGE = 'give me the message, by a reply or its link'

/** Adds the team to an id that is one of a team and was written without: whoever has spoken by it is meant. */
async function withTeam({ store: { read }, channels }: SubjectPorts, named: string): Promise<AuthorId> {
  const [channel = '', ...rest] = named.split(':')
  const id = rest.join(':')
  if (!channels.traits(channel).ids.ofTeams || id.includes('/')) return named
  const recent = await senders(read, channels, (sender, at) => at === channel && sender.id.toLowerCase() === id)
  const found = [...new Set([...(await read.authors.inAnyTeam(channel, id)), ...recent])]
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  const { name } = channels.traits(channel)
  if (found.length > 1)
    throw new ParleyError('invalid', `Several people of ${name} have that id: say ${found.join(' or ')}.`)
  throw new ParleyError(
    'not_found',
    `Nobody of that id has spoken on ${name}. An id is written \`${channel}:<team>/<id>\` there, as \`/why trace\` shows it.`,
  )
}

/** Throws `invalid` for a bot or a webhook: what it says is nobody's. */
async function refuseBots({ store: { read }, channels }: SubjectPorts, named: AuthorId): Promise<void> {
  const said = (await recentEvents(read)).filter(
    ({ sender, address: { channel } }) => platformIdOf(channels, channel, sender) === named,
  )
  if (said.length > 0 && said.every(({ sender }) => sender.kind !== 'user'))
    throw new ParleyError('invalid', `${named} is a bot and no person: ${BY_MESSAGE}.`)
}

export async function ofPerson(
  person: PersonId,
  more: readonly AuthorId[],
  idsOf: SubjectPorts['idsOf'],
): Promise<PersonSubject> {
  return { kind: 'person', person, ids: [...new Set([...more, ...(await idsOf(person))])] }
}

function calledSo({ store: { read }, channels }: SubjectPorts, name: string): Promise<readonly AuthorId[]> {
  return senders(read, channels, ({ username }) => username?.toLowerCase() === name)
}

async function senders(
  read: Store['read'],
  channels: Channels,
  isMeant: (sender: Sender, channel: ChannelId) => boolean,
): Promise<readonly AuthorId[]> {
  const events = (await recentEvents(read)).filter(({ sender, address }) => isMeant(sender, address.channel))
  const ids = events.map(({ address, sender }) => senderAuthor(channels, address.channel, sender))
  return [...new Set(ids)].filter((id) => id !== NOBODY)
}

/** Messages that are looked through for a name. */
const LOOKED_THROUGH = 1_000

async function recentEvents({ inbox }: Store['read']): Promise<readonly InboundEvent[]> {
  return (await inbox.recent(LOOKED_THROUGH)).map(({ dispatch: { event } }) => event)
}
