import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/core/address.ts'
import { toPersonId } from '../../src/core/ids.ts'
import type { InboundEvent, Sender } from '../../src/core/message.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { Routing } from '../../src/routing/compile-routing.ts'
import { decideRoute } from '../../src/routing/decide-route.ts'
import type { RouteFacts } from '../../src/routing/route-facts.ts'
import { verdict } from '../fakes/decide.ts'
import { command, direct, dispatchOf, edit, group, message, routeFacts } from '../fakes/dispatch.ts'
import { household, member, owner, routingOf } from '../fakes/routing-policy.ts'
import {
  type Case,
  type EventKind,
  expected,
  type MatrixPolicy,
  type Place,
  type SenderKind,
} from './permission-oracle.ts'

type Platform = Case['platform']

const PLACES: Readonly<Record<Platform, readonly Place[]>> = {
  telegram: ['direct', 'group', 'topic', 'channel post'],
  discord: ['direct', 'group direct', 'group', 'thread'],
  slack: ['direct', 'group direct', 'group', 'thread'],
}

const SENDERS: readonly SenderKind[] = [
  'owner',
  'linked owner',
  'allowed',
  'linked member',
  'platform admin',
  'anonymous admin',
  'linked channel',
  'listed bot',
  'other bot',
  'webhook',
  'external team',
  'deleted account',
]

const EVENTS: readonly EventKind[] = [
  'text',
  'mention',
  'mention of others',
  'reply to the bot',
  'wake word',
  'file',
  'nothing',
  'edit',
  'edit with mention',
  'delete',
  'reaction',
  'join',
  'command',
  'open command',
  "owner's command",
  'unknown command',
]

function addressOf(platform: Platform, place: Place, sender: Sender): Address {
  const space = platform === 'telegram' ? {} : { space: { type: platform === 'slack' ? 'team' : 'guild', id: 'T01' } }
  const here = { channel: platform, ...(place === 'direct' && platform !== 'slack' ? {} : space) } as const
  const inSpace = platform === 'telegram' ? 'group' : 'channel'
  switch (place) {
    case 'direct':
      return direct(sender.id, here)
    case 'group direct':
      return group('G1', here)
    case 'group':
      return group('C1', { ...here, chatType: inSpace })
    case 'topic':
    case 'thread':
      return group('C1', { ...here, chatType: inSpace, topic: '42' })
    case 'channel post':
      return group('C2', { ...here, chatType: 'channel' })
  }
}

/** Ids as the platform gives them: people's are numbers, Slack's belong to a team. */
function senderOf(platform: Platform, kind: SenderKind): Sender {
  const at = platform === 'slack' ? { team: 'T01' } : {}
  const user = (id: string): Sender => ({ id, kind: 'user', ...at })
  switch (kind) {
    case 'owner':
      return user('111')
    case 'linked owner':
      return user('112')
    case 'allowed':
      return user('444')
    case 'linked member':
      return user('445')
    case 'platform admin':
      return { ...user('901'), displayName: 'Ada', username: 'ada' }
    case 'anonymous admin':
      return { id: platform === 'telegram' ? '1087968824' : '902', kind: 'anonymous', ...at }
    case 'linked channel':
      return { id: platform === 'telegram' ? '777000' : '903', kind: 'anonymous', ...at }
    case 'listed bot':
      return { id: '777', kind: 'bot', ...at }
    case 'other bot':
      return { id: '778', kind: 'bot', ...at }
    case 'webhook':
      return { id: '779', kind: 'bot', displayName: 'Ada', ...at }
    case 'external team':
      return platform === 'slack' ? { ...user('111'), team: 'T02' } : user('904')
    case 'deleted account':
      return user('905')
  }
}

function eventOf(
  kind: EventKind,
  { address, sender }: { readonly address: Address; readonly sender: Sender },
): InboundEvent {
  const facts = { address, sender, mentioned: address.chatType === 'direct' }
  const text = message(facts)
  const { text: _t, mentioned: _m, mentionsOthers: _o, attachments: _a, ...bare } = text
  switch (kind) {
    case 'text':
      return text
    case 'mention':
      return { ...text, mentioned: true }
    case 'mention of others':
      return { ...text, mentionsOthers: true }
    case 'reply to the bot':
      return { ...text, mentioned: true, quoted: { messageId: '1', own: true } }
    case 'wake word':
      return { ...text, text: 'Butler, hello' }
    case 'file':
      return { ...text, text: '', attachments: [{ ref: 'f1' }] }
    case 'nothing':
      return { ...text, text: ' ' }
    case 'edit':
      return edit(facts)
    case 'edit with mention':
      return edit({ ...facts, mentioned: true })
    case 'delete':
      return { ...bare, kind: 'delete', original: 'e1' }
    case 'reaction':
      return { ...bare, kind: 'reaction', added: ['x'], removed: [] }
    case 'join':
      return { ...bare, kind: 'membership', status: 'joined' }
    case 'command':
      return command('status', facts)
    case 'open command':
      return command('start', facts)
    case "owner's command":
      return command('send', facts)
    case 'unknown command':
      return command('dance', facts)
  }
}

const FACTS: RouteFacts = routeFacts({
  personOf: (_channel, id, team) => {
    if (team !== undefined && team !== 'T01') return undefined
    if (id === '112') return { person: toPersonId('ada'), role: 'owner' }
    return id === '445' ? { person: toPersonId('cy'), role: 'member' } : undefined
  },
  command: (name) => {
    if (name === 'status') return { who: 'anyone', open: false }
    if (name === 'start') return { who: 'anyone', open: true }
    return name === 'send' ? { who: 'owner', open: false } : undefined
  },
})

function routingFor({ direct, groups, silentGroups, ...rest }: MatrixPolicy): Routing {
  const ids = (name: string): string[] => [`telegram:${name}`, `discord:${name}`, `slack:T01/${name}`]
  const deny = (['group', 'channel'] as const).map((chatType) => ({ match: { chatType }, action: 'deny' as const }))
  const policy: Partial<RoutingPolicy> = {
    ...rest,
    people: [owner('ada', ...ids('111')), member('bob', ...ids('444'))],
    wakeWords: ['butler'],
    access: { direct, groups: groups ? [{ match: {}, ...groups, botIds: ids('777') }] : [] },
    sendPolicy: { rules: silentGroups ? deny : [], default: 'allow' },
  }
  return routingOf(household(policy))
}

const BASE: MatrixPolicy = {
  direct: 'owner',
  groups: undefined,
  ownerAlwaysTriggers: true,
  edits: 'update',
  deletions: 'redact',
  silentGroups: false,
}

/** Every audience, trigger and way with bots, each with every way with edits; the rest by turns. */
function policies(): readonly MatrixPolicy[] {
  const groups = (['owner', 'allowlist', 'public'] as const).flatMap((who) =>
    (['mention', 'always', 'never'] as const).flatMap((trigger) =>
      (['ignore', 'mentioned', 'allow'] as const).map((bots) => ({ who, trigger, bots })),
    ),
  )
  return [undefined, ...groups].flatMap((rule, turn) =>
    (['ignore', 'update', 'rerun'] as const).map((edits, step): MatrixPolicy => {
      const by = turn * 3 + step
      return {
        direct: (['owner', 'allowlist', 'public'] as const)[by % 3] ?? 'owner',
        groups: rule,
        edits,
        ownerAlwaysTriggers: by % 2 === 0,
        deletions: by % 4 === 3 ? 'ignore' : 'redact',
        silentGroups: by % 5 === 4,
      }
    }),
  )
}

const PLATFORMS = ['telegram', 'discord', 'slack'] as const

/** Every place, sender and event of a platform. */
function cellsOf(platform: Platform): readonly Omit<Case, 'policy'>[] {
  return PLACES[platform].flatMap((place) =>
    SENDERS.flatMap((sender) => EVENTS.map((event) => ({ platform, place, sender, event }))),
  )
}

function decideCell(routing: Routing, { platform, place, sender: kind, event }: Omit<Case, 'policy'>) {
  const sender = senderOf(platform, kind)
  return decideRoute(
    routing,
    FACTS,
    dispatchOf(eventOf(event, { address: addressOf(platform, place, sender), sender })),
  )
}

describe('F-H01: the permission matrix', () => {
  it.each(PLATFORMS)('F-H01: on %s every cell is as the rules say in words', (platform) => {
    const cells = cellsOf(platform)
    const all = [BASE, ...policies()]
    const wrong = all.flatMap((policy) => {
      const routing = routingFor(policy)
      return cells.flatMap((cell) => {
        const [decided, due] = [verdict(decideCell(routing, cell)), expected({ ...cell, policy })]
        return decided === due ? [] : [{ ...cell, policy, decided, due }]
      })
    })
    expect(wrong.slice(0, 5)).toEqual([])
    expect([all.length, cells.length]).toEqual([85, 4 * 12 * 16])
  })

  it.each(PLATFORMS)('F-H01: on %s nobody but the owner has authority, in any cell', (platform) => {
    const owners = policies().flatMap((policy) => {
      const routing = routingFor(policy)
      return cellsOf(platform).flatMap((cell) =>
        decideCell(routing, cell).identity.role === 'owner' ? cell.sender : [],
      )
    })
    expect(new Set(owners)).toEqual(new Set(['owner', 'linked owner']))
  })
})
