import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import {
  CALLS,
  INTENTS,
  inviteTo,
  NEEDED_SWITCHES,
  PERMISSIONS,
} from '../../../adapters/discord/connection/permissions.ts'
import {
  type DiscordServer,
  type DiscordServerOptions,
  startDiscordServer,
} from '../../../src/rehearsal/discord/server.ts'
import { examine, findingsOf, placeOf, setupOf, troubles } from '../examine.ts'

const open: DiscordServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

async function start(options: DiscordServerOptions = {}): Promise<DiscordServer> {
  const server = await startDiscordServer(options)
  open.push(server)
  return server
}

const blockOf = ({ token, apiRoot }: DiscordServer): object => ({ token, apiRoot })

/** A guild with a channel of a name, as a place that is known. */
function channelIn(server: DiscordServer, name: string) {
  const guild = server.world.addGuild({ name: 'Workshop' })
  const channel = server.world.addChannel({ guild, name })
  const space = { type: 'guild', id: guild.id } as const
  return { guild, channel, place: placeOf('discord', channel.id, { chatType: 'channel', space, title: name }) }
}

describe('the application', () => {
  test('a good one has no trouble, an identity and an address that invites it', async () => {
    const server = await start()
    const examination = await examine('discord', blockOf(server))

    expect(troubles(examination)).toEqual([])
    expect(examination.identity).toMatchObject({ username: 'parley' })
    expect(examination.invite).toBe(inviteTo(server.world.bot.id))
  })

  test('a refused token is the only finding, with the page that gives a new one', async () => {
    const server = await start()
    const { findings } = await examine('discord', { ...blockOf(server), token: 'MTA0.revoked.token' })

    expect(findings).toEqual([
      expect.objectContaining({ check: 'token', state: 'failed', remedy: expect.stringContaining('Reset Token') }),
    ])
  })

  test('an intent that is off names its switch and the page of this application', async () => {
    const server = await start({ messageContent: false })
    const [finding] = findingsOf(await examine('discord', blockOf(server)), 'intents')

    expect(finding).toMatchObject({ state: 'failed', says: expect.stringContaining('Message Content Intent is off') })
    expect(finding?.remedy).toContain(`applications/${server.world.bot.id}/bot`)
  })

  test('one that demands a code grant cannot be invited, and one that is not public only by its owner', async () => {
    const server = await start()
    server.application.isPublic = false
    expect(findingsOf(await examine('discord', blockOf(server)), 'invite')[0]).toMatchObject({
      state: 'ok',
      says: expect.stringContaining('only the owner'),
    })
    server.application.requiresCodeGrant = true
    expect(findingsOf(await examine('discord', blockOf(server)), 'invite')[0]).toMatchObject({
      state: 'failed',
      remedy: expect.stringContaining('Requires OAuth2 Code Grant'),
    })
  })

  test('connections that are used up for today say when there are new ones', async () => {
    const server = await start()
    Object.assign(server.gateway.sessionLimit, { remaining: 3, resetAfterMs: 7_200_000 })
    const [finding] = findingsOf(await examine('discord', blockOf(server)), 'sessions')

    expect(finding).toMatchObject({ state: 'failed', says: expect.stringMatching(/3 of 1000.*2 h/) })
  })
})

describe('rights in the known channels', () => {
  test('a channel without trouble is one line, and its threads are not asked about one by one', async () => {
    const server = await start()
    const { place } = channelIn(server, 'engines')
    const thread = { ...place, address: { ...place.address, topic: '77' } }
    const rights = findingsOf(await examine('discord', blockOf(server), { places: [thread, place] }), 'rights')

    expect(rights).toEqual([
      expect.objectContaining({ state: 'ok', says: expect.stringContaining('the known channel') }),
    ])
  })

  test.each([
    ['hidden', 'failed', 'View Channels'],
    ['read_only', 'failed', 'Send Messages, Send Messages in Threads'],
    ['no_history', 'warning', 'Read Message History'],
  ] as const)('a channel that is %s is %s and names what is missing', async (access, state, names) => {
    const server = await start()
    const { channel, place } = channelIn(server, 'engines')
    server.world.setAccess(channel, access)
    const rights = findingsOf(await examine('discord', blockOf(server), { places: [place] }), 'rights')

    expect(rights).toEqual([
      expect.objectContaining({ state, says: expect.stringContaining(`"engines" (${channel.id}): ${names} `) }),
    ])
    expect(rights[0]?.remedy).toContain(`allow ${names}`)
  })

  test('overwrites count as on the platform: everyone, then all roles at once, then the bot itself', async () => {
    const server = await start()
    const { guild, channel, place } = channelIn(server, 'engines')
    const [attach, react] = [1n << 15n, 1n << 6n]
    const { world } = server
    const [first, second] = [world.addRole({ guild, name: 'first' }), world.addRole({ guild, name: 'second' })]
    world.guilds.get(guild.id)?.botRoles.add(first.id).add(second.id)
    const missing = async () =>
      findingsOf(await examine('discord', blockOf(server), { places: [place] }), 'rights')[0]?.says
    world.overwrite(channel, { id: guild.id, deny: attach | react })
    expect(await missing()).toMatch(/: Attach Files, Add Reactions are missing: it sends no files/)
    world.overwrite(channel, { id: first.id, deny: attach })
    world.overwrite(channel, { id: second.id, allow: attach | react })
    expect(await missing()).toContain('the known channel')
    world.overwrite(channel, { id: world.bot.id, deny: react })
    expect(await missing()).toMatch(/: Add Reactions is missing: an agent cannot/)
    world.guilds.get(guild.id)?.roles.set(first.id, { ...first, permissions: String(1n << 3n) })
    expect(await missing()).toContain('the known channel')
  })

  test('a server that the bot was put out of, and a channel that was deleted', async () => {
    const server = await start()
    const [gone, deleted] = [channelIn(server, 'gone'), channelIn(server, 'deleted')]
    server.world.guilds.delete(gone.guild.id)
    server.world.channels.delete(deleted.channel.id)
    const places = [gone.place, deleted.place, placeOf('discord', '5', { chatType: 'direct' })]
    const rights = findingsOf(await examine('discord', blockOf(server), { places }), 'rights')

    expect(rights.map(({ says }) => says.replace(/ \(\d+\)/, ''))).toEqual([
      '"gone": the bot is not in this server any more',
      '"deleted": the channel was deleted',
    ])
  })
})

test('an examination reads, and nothing else', async () => {
  const server = await start()
  const { place } = channelIn(server, 'engines')
  const mark = server.ledger.mark()
  await examine('discord', blockOf(server), { places: [place], beside: false })
  const called = server.ledger
    .all(({ kind }) => kind === 'call', mark)
    .map((entry) => String(Reflect.get(entry, 'method')))

  expect(called.sort()).toEqual(['getChannel', 'getGuild', 'getMember', 'gatewayBot', 'me', 'myApplication'].sort())
})

describe('the table of calls', () => {
  test('has each call of the adapter, and no other', () => {
    expect([...callsInSources()].sort()).toEqual(Object.keys(CALLS).sort())
  })

  test('gives the permissions of the invitation, which are the ones that are used', () => {
    const used = [...new Set(Object.values(CALLS).flat())].sort()
    const invited = BigInt(new URL(inviteTo('1')).searchParams.get('permissions') ?? '')

    expect(PERMISSIONS.map(({ name }) => name).sort()).toEqual(used)
    expect(PERMISSIONS.filter(({ bit }) => (invited & bit) === 0n)).toEqual([])
    expect(invited).toBe(274_878_008_384n)
  })

  test('needs the one switch whose intent the gateway is asked for', () => {
    expect(NEEDED_SWITCHES).toEqual(['Message Content Intent'])
    expect(INTENTS).toBe((1 << 0) | (1 << 9) | (1 << 12) | (1 << 15))
  })
})

test.each([
  ['Bot MTA0MjMzNDU2.GabcdE.abcdefghijklmnopqrstuvwxyz', 'begins with "Bot"'],
  ['1042334567890123456', 'Application ID'],
  ['abcdefghijklmnopqrstuvwxyz_-0123', 'Client Secret'],
  ['0123456789abcdef'.repeat(4), 'Public Key'],
  ['hunter2', 'three parts'],
])('a token %s says what is wrong with it', async (text, words) => {
  const [secret] = (await setupOf('discord')).secrets
  expect(secret?.mistake(text)).toContain(words)
})

const FOLDER = new URL('../../../adapters/discord/', import.meta.url).pathname

/** Returns the verb and path of each call in the sources, whose path stands in it or in the constant before it. */
function callsInSources(): ReadonlySet<string> {
  const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const found = new Set<string>()
  for (const name of names) {
    const text = readFileSync(join(FOLDER, name), 'utf8')
    for (const match of text.matchAll(/\bverb: '([A-Z]+)', path(?:: (`[^`]*`|'[^']*'))?/g)) {
      const [, verb, written] = match
      const before = text.slice(0, match.index)
      const constant = [...before.matchAll(/const path = (`[^`]*`|'[^']*')/g)].at(-1)?.[1] ?? ''
      const path = (written ?? constant).replace(/\$\{path\}/, constant.slice(1, -1))
      found.add(
        `${verb} ${path
          .slice(1, -1)
          .replace(/\$\{handle\}/, '{}/{}')
          .replace(/\$\{[^}]*\}/g, '{}')}`,
      )
    }
  }
  return found
}
