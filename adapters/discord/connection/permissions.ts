import { GatewayIntentBits, PermissionFlagsBits } from 'discord.js'

/** The permissions by the names that the platform's own pages have for them, in their order there. */
const BITS = {
  'View Channels': PermissionFlagsBits.ViewChannel,
  'Send Messages': PermissionFlagsBits.SendMessages,
  'Send Messages in Threads': PermissionFlagsBits.SendMessagesInThreads,
  'Attach Files': PermissionFlagsBits.AttachFiles,
  'Add Reactions': PermissionFlagsBits.AddReactions,
  'Read Message History': PermissionFlagsBits.ReadMessageHistory,
} as const

export type PermissionName = keyof typeof BITS

const VIEW = 'View Channels'
const HISTORY = 'Read Message History'
const WRITE = ['Send Messages', 'Send Messages in Threads'] as const

/**
 * Every call of this adapter, with the permissions that it needs in its channel: the bot is invited with exactly these.
 * A message needs one permission in a channel and another one in a thread; one that replies needs the history too.
 */
export const CALLS: Readonly<Record<string, readonly PermissionName[]>> = {
  'GET /users/@me': [],
  'GET /gateway/bot': [],
  'GET /applications/@me': [],
  'GET /applications/{}/commands': [],
  'PUT /applications/{}/commands': [],
  'POST /interactions/{}/{}/callback': [],
  'POST /webhooks/{}/{}': [],
  'PATCH /webhooks/{}/{}/messages/@original': [],
  'DELETE /webhooks/{}/{}/messages/@original': [],
  'POST /users/@me/channels': [],
  'GET /guilds/{}': [],
  'GET /guilds/{}/members/{}': [],
  'GET /channels/{}': [VIEW],
  'GET /channels/{}/messages': [VIEW, HISTORY],
  'GET /channels/{}/messages/{}': [VIEW, HISTORY],
  'POST /channels/{}/messages': [VIEW, ...WRITE, 'Attach Files', HISTORY],
  'POST /channels/{}/typing': [VIEW, ...WRITE],
  'PATCH /channels/{}/messages/{}': [VIEW],
  'DELETE /channels/{}/messages/{}': [VIEW],
  'PUT /channels/{}/messages/{}/reactions/{}/@me': [VIEW, HISTORY, 'Add Reactions'],
}

/** Says what does not work where a permission is missing; a bot without the first two does nothing there at all. */
const WITHOUT: Readonly<Record<PermissionName, string>> = {
  'View Channels': 'it sees nothing there',
  'Send Messages': 'it cannot answer there',
  'Send Messages in Threads': 'it cannot answer in threads',
  'Attach Files': 'it sends no files',
  'Add Reactions': 'an agent cannot put emoji on messages',
  'Read Message History': 'it does not reply to a message, and what came while it was away stays unread',
}

export interface Permission {
  readonly name: PermissionName
  readonly bit: bigint
  readonly without: string
}

const needed = new Set(Object.values(CALLS).flat())

/** The permissions that the adapter uses, and no other. */
export const PERMISSIONS: readonly Permission[] = Object.entries(BITS)
  .map(([name, bit]) => ({ name: name as PermissionName, bit }))
  .filter(({ name }) => needed.has(name))
  .map(({ name, bit }) => ({ name, bit, without: WITHOUT[name] }))

/** Returns the address by which a bot is invited with exactly these permissions. */
export function inviteTo(applicationId: string): string {
  const permissions = PERMISSIONS.reduce((sum, { bit }) => sum | bit, 0n)
  return `https://discord.com/oauth2/authorize?client_id=${applicationId}&scope=bot+applications.commands&permissions=${permissions}`
}

/** The events that the gateway is asked for. */
export const INTENTS =
  GatewayIntentBits.Guilds |
  GatewayIntentBits.GuildMessages |
  GatewayIntentBits.DirectMessages |
  GatewayIntentBits.MessageContent

/** The intents that have a switch. Two flags of an application say that it is on: one is for bots in few servers. */
const SWITCHES: readonly (readonly [intent: number, flags: number, name: string])[] = [
  [GatewayIntentBits.GuildPresences, (1 << 12) | (1 << 13), 'Presence Intent'],
  [GatewayIntentBits.GuildMembers, (1 << 14) | (1 << 15), 'Server Members Intent'],
  [GatewayIntentBits.MessageContent, (1 << 18) | (1 << 19), 'Message Content Intent'],
]

/** The switches that have to be on for these events, by their names. */
export const NEEDED_SWITCHES: readonly string[] = switchesOff(0)

/** Returns the names of the switches that have to be on and, by the flags of an application, are off. */
export function switchesOff(applicationFlags: number): readonly string[] {
  return SWITCHES.filter(([intent, flags]) => (INTENTS & intent) !== 0 && (applicationFlags & flags) === 0).map(
    ([, , name]) => name,
  )
}

/** A member of a guild, as far as permissions follow from it. */
export interface MemberFacts {
  readonly userId: string
  readonly guildId: string
  readonly ownerId: string
  readonly roles: readonly string[]
  /** The permissions of each role of the guild, by its id; that of everyone has the id of the guild. */
  readonly rolePermissions: ReadonlyMap<string, bigint>
}

export interface Overwrite {
  readonly id: string
  readonly allow: bigint
  readonly deny: bigint
}

/** Returns what a member may do in a channel, by the platform's own rule (docs, Permissions). */
export function permissionsIn(member: MemberFacts, overwrites: readonly Overwrite[]): bigint {
  const { userId, guildId, ownerId, roles, rolePermissions } = member
  const all = ~0n
  const own = [guildId, ...roles].map((id) => rolePermissions.get(id) ?? 0n).reduce((sum, bits) => sum | bits, 0n)
  if (userId === ownerId || (own & PermissionFlagsBits.Administrator) !== 0n) return all
  const ofRoles = overwrites.filter(({ id }) => id !== guildId && roles.includes(id))
  const either = (which: 'allow' | 'deny') => ofRoles.reduce((sum, one) => sum | one[which], 0n)
  const layers = [
    ...overwrites.filter(({ id }) => id === guildId),
    { allow: either('allow'), deny: either('deny') },
    ...overwrites.filter(({ id }) => id === userId),
  ]
  return layers.reduce((bits, { allow, deny }) => (bits & ~deny) | allow, own)
}
