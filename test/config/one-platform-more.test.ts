import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { catalogue } from '../../adapters/index.ts'
import { explainConfig } from '../../src/config/explain.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { traitsOf } from '../../src/config/schema.ts'
import type { Address } from '../../src/core/address.ts'
import { type ChannelTraits, createChannels } from '../../src/core/channel-traits.ts'
import { createIdSource, toPersonId } from '../../src/core/ids.ts'
import type { InboundMessage } from '../../src/core/message.ts'
import { foldPlatformId } from '../../src/core/platform-id.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { sessionAliases } from '../../src/core/session-alias.ts'
import { compileRouting } from '../../src/routing/compile-routing.ts'
import { personBehind } from '../../src/routing/identify.ts'
import { scopeSignature } from '../../src/routing/session-key.ts'
import { loadMutes } from '../../src/sessions/lookups/mutes.ts'
import { operatePeople } from '../../src/sessions/people/operate-people.ts'
import { openSession } from '../../src/sessions/turns/open-session.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { decide, routeOf, verdict } from '../fakes/decide.ts'
import { dispatchOf, group, message, user } from '../fakes/dispatch.ts'
import { fixedClock } from '../fakes/fixed-clock.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { owner } from '../fakes/routing-policy.ts'
import { temporaryFolder } from './loading.ts'

/** A platform that is none of today's: ids with a case and a colon, threads as topics. */
const traits: ChannelTraits = {
  name: 'Matrix',
  topics: 'threads',
  dimensions: ['chat', 'topic'],
  ids: { caseSensitive: true, ofTeams: false, shared: [], directChatIsPerson: false, examples: [] },
  variables: [{ setting: 'token', variable: 'MATRIX_ACCESS_TOKEN' }],
}
const configSchema = z.strictObject({ token: z.string().min(1) })
const CATALOGUE = { ...catalogue, matrix: { configSchema, traits } }
const CHANNELS = createChannels(traitsOf(CATALOGUE))

const FILE = `
channels: { matrix: { accounts: { default: { token: "\${env:MATRIX_ACCESS_TOKEN}" } } } }
people:
  ada: { role: owner, ids: ["matrix:@Ada:example.org"] }
  bob: { role: member, ids: ["@Bob:example.org"] }
agents: [{ id: main }, { id: media }]
routing:
  access: { groups: [{ match: { channel: matrix }, who: allowlist }] }
  dispatch:
    - { name: media, match: { channel: matrix, chat: "!Media:example.org" }, agent: media }
    - { name: anywhere, match: { chat: "!Films:example.org" }, agent: media }
session: { sendPolicy: { rules: [{ match: { keyPrefix: "matrix:group:!Quiet" }, action: deny }] } }
schedules: [{ id: morning, cron: "0 8 * * *", prompt: hello, deliverTo: "matrix:group:!Media:example.org" }]
`

async function load(
  text: string | undefined,
  env: Readonly<Record<string, string>> = { MATRIX_ACCESS_TOKEN: 'syt_x' },
) {
  const folder = temporaryFolder()
  if (text !== undefined) writeFileSync(join(folder, 'parley.yaml'), text)
  const path = text === undefined ? {} : { path: 'parley.yaml' }
  return (await loadConfig({ ...path, env: { HOME: folder, ...env }, cwd: folder, catalogue: CATALOGUE })).config
}

const policy = async (): Promise<RoutingPolicy> => (await load(FILE)).routing
const room = (chat: string, changes: Partial<Address> = {}): Address => group(chat, { channel: 'matrix', ...changes })
const said = (chat: string, changes: Partial<InboundMessage> = {}): InboundMessage =>
  message({ address: room(chat), sender: user('@Ada:example.org'), mentioned: true, ...changes })

describe('a platform that only its adapter and the catalogue know', () => {
  it('is configured by a file or by its variable, and named where a newcomer reads', async () => {
    const config = await load(FILE)
    expect(config.channels).toEqual({ matrix: { accounts: { default: { token: 'syt_x' } } } })
    expect(config.schedules[0]?.definition.deliverTo).toMatchObject({ channel: 'matrix', chat: '!Media:example.org' })
    expect(explainConfig(config).join('\n')).toContain('matrix chat, topic')
    expect((await load(undefined)).channels).toEqual(config.channels)
    await expect(load(undefined, {})).rejects.toThrow('Matrix: MATRIX_ACCESS_TOKEN.')
    await expect(load(FILE.replace('channel: matrix,', 'channel: matrx,'))).rejects.toThrow('did you mean `matrix`?')
  })

  it('K5: knows people by ids whose case counts, also by one that names no channel', async () => {
    const rules = await policy()
    const who = (id: string, channel = 'matrix') =>
      decide(rules, said('!Media:example.org', { address: room('!R:s', { channel }), sender: user(id) })).identity
        .person
    expect([who('@Ada:example.org'), who('@ada:example.org'), who(' @Ada:example.org ')]).toEqual([
      'ada',
      undefined,
      'ada',
    ])
    expect([who('@Bob:example.org'), who('@bob:example.org')]).toEqual(['bob', undefined])
    expect(who('@bob:EXAMPLE.org', 'telegram')).toBe('bob')
    expect(foldPlatformId(CHANNELS, ' MATRIX:@Ada:example.org')).toBe('matrix:@Ada:example.org')
    expect(foldPlatformId(CHANNELS, 'Slack:T01/U333')).toBe('slack:t01/u333')
  })

  it('K5: rules, keys and names keep the case of an id', async () => {
    const rules = await policy()
    const agents = ['!Media:example.org', '!media:example.org', '!Films:example.org', '!films:example.org'].map(
      (chat) => routeOf(decide(rules, said(chat))).agent,
    )
    expect(agents).toEqual(['media', 'main', 'media', 'main'])
    const event = said('!Room:example.org', { address: room('!Room:example.org', { topic: '$Event' }) })
    const route = routeOf(decide(rules, event))
    expect(scopeSignature(route.scope)).toBe(
      'v=1|agent=main|channel=matrix|account=default|chat=group:!Room:example.org|topic=topic:$Event',
    )
    expect(route.displayKey).toBe('matrix:group:!Room:example.org/$Event')
    expect(sessionAliases(CHANNELS, { route, event, person: undefined })).toEqual([
      'agent:main:matrix:group:!Room:example.org/$Event',
      'matrix:group:!Room:example.org/$Event',
    ])
    expect(routeOf(decide(rules, said('!room:example.org'))).scopeKey).not.toBe(
      routeOf(decide(rules, said('!Room:example.org'))).scopeKey,
    )
    expect(['!Quiet:s', '!quiet:s'].map((chat) => verdict(decide(rules, said(chat))))).toEqual([
      'context/send_policy',
      'run/mentioned',
    ])
  })

  it('K5: two rooms that differ in case alone are two sessions, each found by its own name', async () => {
    const store = await openSqliteStore({
      path: readyDatabase(join(temporaryFolder(), 'parley.db')),
      clock: fixedClock(1),
      caseSensitive: CHANNELS.caseSensitive,
    })
    onTestFinished(() => store.close())
    const rules = await policy()
    const ports = { ids: createIdSource({ now: () => 1, randomBytes }), channels: CHANNELS, overrides: { set() {} } }
    const open = async (chat: string) => {
      const decision = decide(rules, said(chat))
      const opening = { route: routeOf(decision), identity: decision.identity, dispatch: dispatchOf(said(chat)) }
      return (await store.write((tx) => openSession(tx, opening, ports))).id
    }
    const [upper, lower] = [await open('!Room:s'), await open('!room:s')]
    const found = async (name: string) => (await store.read.sessions.resolve(name))?.id
    expect(upper).not.toBe(lower)
    expect([await found('matrix:group:!Room:s'), await found(' Matrix:Group:!room:s')]).toEqual([upper, lower])
    expect([await found('agent:main:matrix:group:!Room:s'), await found('matrix:group:!ROOM:s')]).toEqual([
      upper,
      undefined,
    ])
  })

  it('K5: an id is linked in its own case, and parted so', async () => {
    const store = await openSqliteStore({
      path: readyDatabase(join(temporaryFolder(), 'parley.db')),
      clock: fixedClock(1),
    })
    onTestFinished(() => store.close())
    const { people, channels } = compileRouting(await policy()).routing
    const done: string[] = []
    const links = {
      link: async (id: string, person: string) => void done.push(`${id} to ${person}`),
      unlink: async (id: string) => {
        done.push(`${id} from bob`)
        return toPersonId('bob')
      },
    }
    const whoIs = (id: string) => personBehind(people, { personOf: () => undefined }, id)
    const operator = operatePeople({ store, channels, people: () => [owner('bob')], daemon: { links, whoIs } })
    await operator.link('bob', 'MATRIX:@ada:example.org')
    await operator.unlink('Matrix:@Zoe:example.org')
    expect(done).toEqual(['matrix:@ada:example.org to bob', 'matrix:@Zoe:example.org from bob'])
    await expect(operator.link('bob', 'matrix:@Ada:example.org')).rejects.toThrow('is ada already')
  })

  it('its threads hang in their room: what is muted there is muted in them', async () => {
    const store = await openSqliteStore({
      path: readyDatabase(join(temporaryFolder(), 'parley.db')),
      clock: fixedClock(1),
    })
    onTestFinished(() => store.close())
    const mutes = await loadMutes(store, fixedClock(1), CHANNELS)
    await mutes.mute(room('!Room:s'))
    expect(mutes.until(room('!Room:s', { topic: '$1' }))).toBe(Number.POSITIVE_INFINITY)
    expect(mutes.until(room('!room:s'))).toBeUndefined()
  })
})
