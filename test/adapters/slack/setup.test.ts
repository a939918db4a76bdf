import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { BOT_EVENTS, EVENTS, METHODS, SCOPES } from '../../../adapters/slack/connection/scopes.ts'
import { type SlackServer, type SlackServerOptions, startSlackServer } from '../../../src/rehearsal/slack/server.ts'
import { examine, findingsOf, placeOf, setupOf, troubles } from '../examine.ts'

const open: SlackServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

async function start(options: SlackServerOptions = {}): Promise<SlackServer> {
  const server = await startSlackServer(options)
  open.push(server)
  return server
}

function blockOf({ app, apiRoot }: SlackServer, more: object = {}): object {
  return { botToken: app.botToken, appToken: app.appToken, apiRoot, ...more }
}

describe('the tokens', () => {
  test('a good account has no trouble, an identity and the command that invites it', async () => {
    const examination = await examine('slack', blockOf(await start()))

    expect(troubles(examination)).toEqual([])
    expect(examination.identity).toMatchObject({ id: 'U0BOT', username: 'parley' })
    expect(examination.invite).toBe('/invite @parley')
  })

  test('a refused bot token says where it is copied from', async () => {
    const server = await start()
    server.app.botTokenRefusal = 'token_revoked'
    const [finding] = findingsOf(await examine('slack', blockOf(server)), 'token')

    expect(finding).toMatchObject({ state: 'failed', says: expect.stringContaining('token_revoked') })
    expect(finding?.remedy).toContain('Install App')
  })

  test('a missing scope says what it costs and to install the app again; all that hear are failures', async () => {
    const server = await start({ app: { scopes: SCOPES.filter((scope) => scope !== 'files:read') } })
    expect(findingsOf(await examine('slack', blockOf(server)), 'scopes')).toEqual([
      expect.objectContaining({
        state: 'warning',
        says: expect.stringMatching(/files:read is missing: the agent is not shown files/),
        remedy: expect.stringMatching(/add files:read; then reinstall the app/),
      }),
    ])
    server.app.scopes = ['users:read']
    const failed = findingsOf(await examine('slack', blockOf(server)), 'scopes').filter(
      ({ state }) => state === 'failed',
    )
    expect(failed.map(({ says }) => /scope (\S+)/.exec(says)?.[1])).toEqual([
      'chat:write',
      'channels:history',
      'groups:history',
      'im:history',
      'mpim:history',
      'app_mentions:read',
    ])
  })

  test.each([
    ['without connections:write', { appScopes: [] }, {}, /lacks the scope connections:write/],
    ['that was revoked', {}, { appTokenRefusal: 'token_revoked' }, /refuses the app-level token: token_revoked/],
  ] as const)('an app-level token %s fails with the page that makes one', async (_, app, state, words) => {
    const server = await start({ app })
    Object.assign(server.app, state)
    const [finding] = findingsOf(await examine('slack', blockOf(server)), 'app-token')

    expect(finding).toMatchObject({ state: 'failed', says: expect.stringMatching(words) })
    expect(finding?.remedy).toMatch(/App-Level Tokens.*connections:write/)
  })

  test('an app-level token of another kind is named as such', async () => {
    const server = await start({ app: { botToken: 'xapp-is-a-bot-token' } })
    const block = { ...blockOf(server), botToken: 'xoxb-any', appToken: server.app.botToken }

    expect(findingsOf(await examine('slack', block), 'app-token')[0]?.says).toContain('of another kind')
  })

  test('tokens of two apps are found by the id in the app-level token', async () => {
    const same = await start({ app: { appToken: 'xapp-1-A01-1-abc' } })
    const other = await start({ app: { appToken: 'xapp-1-A02-1-abc' } })

    expect(findingsOf(await examine('slack', blockOf(same)), 'same-app')[0]).toMatchObject({ state: 'ok' })
    expect(findingsOf(await examine('slack', blockOf(other)), 'same-app')[0]).toMatchObject({
      state: 'failed',
      says: expect.stringMatching(/bot token of A01, the app-level token of A02/),
    })
  })

  test('mode http asks for no app-level token and looks at the form of the signing secret', async () => {
    const server = await start()
    const http = (signingSecret: string) => examine('slack', blockOf(server, { mode: 'http', signingSecret }))

    expect(troubles(await http('0123456789abcdef'.repeat(2)))).toEqual([])
    expect(troubles(await http('hunter2'))).toEqual(['signing-secret warning'])
  })
})

describe('rights in the known channels', () => {
  test('a channel without the bot, an archived one, a private one it left and one that is good', async () => {
    const server = await start()
    const { world, app } = server
    const [without, archived, hidden, fine] = [
      world.addChannel({ name: 'without' }),
      world.addChannel({ name: 'archived' }),
      world.addChannel({ name: 'hidden', kind: 'group' }),
      world.addChannel({ name: 'fine' }),
    ]
    world.channel(without).members.delete(app.bot.id)
    world.channel(archived).archived = true
    world.channel(hidden).members.delete(app.bot.id)
    const places = [without, archived, hidden, fine].map(({ id, name }) =>
      placeOf('slack', id, { chatType: 'channel', ...(name === undefined ? {} : { title: name }) }),
    )
    const rights = findingsOf(await examine('slack', blockOf(server), { places }), 'rights')

    expect(rights.map(({ state, says, remedy }) => [state, says, remedy])).toEqual([
      ['failed', expect.stringMatching(/^"without" .*not in it/), expect.stringContaining('/invite')],
      ['failed', expect.stringMatching(/^"archived" .*archived/), expect.stringContaining('unarchive')],
      ['failed', expect.stringMatching(/^"hidden" .*private/), expect.stringContaining('/invite')],
    ])
    const good = await examine('slack', blockOf(server), { places: places.slice(3) })
    expect(findingsOf(good, 'rights')).toEqual([expect.objectContaining({ state: 'ok' })])
  })
})

test('an examination reads, and nothing else, and opens no socket', async () => {
  const server = await start({ app: { appToken: 'xapp-1-A01-1-abc' } })
  const channel = server.world.addChannel({ name: 'general' })
  await examine('slack', blockOf(server), {
    places: [placeOf('slack', channel.id, { chatType: 'channel' })],
    beside: false,
  })
  const called = server.ledger.all(({ kind }) => kind === 'call').map((entry) => String(Reflect.get(entry, 'method')))

  expect(called.sort()).toEqual(['apps.connections.open', 'auth.test', 'bots.info', 'conversations.info'])
  expect(server.sockets.count).toBe(0)
})

describe('the manifest', () => {
  interface Manifest {
    readonly features: {
      readonly app_home: object
      readonly slash_commands: readonly { readonly command: string }[]
    }
    readonly oauth_config: { readonly scopes: { readonly bot: readonly string[] } }
    readonly settings: { readonly event_subscriptions: { readonly bot_events: readonly string[] } }
  }
  const read = async () => JSON.parse((await setupOf('slack')).manifest?.text ?? '') as Manifest

  test('has exactly the scopes of the methods, the events and the slash command', async () => {
    const { oauth_config: oauth } = await read()
    const used = [...Object.values(METHODS), ...Object.values(EVENTS)].flat()

    expect(oauth.scopes.bot).toEqual([...new Set([...used, 'commands'])].sort())
  })

  test('switches on what is surprising later: Socket Mode, buttons, the Messages tab, the command', async () => {
    const { features, settings } = await read()

    expect(features.app_home).toMatchObject({ messages_tab_enabled: true, messages_tab_read_only_enabled: false })
    expect(features.slash_commands.map(({ command }) => command)).toEqual(['/parley'])
    expect(settings).toMatchObject({
      socket_mode_enabled: true,
      interactivity: { is_enabled: true },
      event_subscriptions: { bot_events: BOT_EVENTS },
    })
  })

  test('a platform with exactly its scopes and events is examined without trouble, and no scope is beyond the table', async () => {
    const { oauth_config: oauth, settings } = await read()
    const app = { scopes: oauth.scopes.bot, subscriptions: settings.event_subscriptions.bot_events }

    expect(troubles(await examine('slack', blockOf(await start({ app }))))).toEqual([])
  })
})

describe('the tables', () => {
  const sources = sourcesOf()

  test('have each method that the adapter calls, and no other', () => {
    const called = [...sources.matchAll(/'((?:auth|bots|chat|conversations|files|reactions|users)\.[a-zA-Z]+)'/g)]

    expect([...new Set(called.map(([, method]) => method))].sort()).toEqual(Object.keys(METHODS).sort())
  })

  test('have each event that the adapter reads, and no other', () => {
    const inReaders = [...sources.matchAll(/case '([a-z_]+)':\n\s+return read(?:Message|AnyMessage|Migration)\(/g)]
    const inSets = [...sources.matchAll(/TOKEN_EVENTS[^\n]*\[([^\]]*)\]|type === '((?:channel|group)_rename)'/g)]
    const read = [...inReaders, ...inSets].flatMap(
      ([, one = '', other = '']) => `${one} ${other}`.match(/[a-z_]+/g) ?? [],
    )
    const subscribed = BOT_EVENTS.map((event) => event.replace(/\..*/, ''))

    expect([...new Set(read)].sort()).toEqual([...new Set(subscribed)].sort())
  })
})

test.each([
  ['appToken', 'xoxb-1-2-abc', 'the bot token of a Slack app'],
  ['botToken', 'xapp-1-A01-2-abc', 'the app-level token of a Slack app'],
  ['botToken', 'xoxp-1-2-abc', 'the token of a person'],
  ['botToken', 'xoxe.xoxb-1-abc', 'Token Rotation'],
  ['botToken', '0123456789abcdef'.repeat(2), 'a signing or client secret'],
  ['botToken', 'xoxb-', 'cut off'],
])('as %s a text %s says what it is', async (setting, text, words) => {
  const secret = (await setupOf('slack')).secrets.find((one) => one.setting === setting)
  expect(secret?.mistake(text)).toContain(words)
})

/** Returns the sources of the adapter in one text, the tables themselves left out. */
function sourcesOf(): string {
  const folder = new URL('../../../adapters/slack/', import.meta.url).pathname
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const ours = names.filter((name) => name.endsWith('.ts') && !name.endsWith('scopes.ts'))
  return ours.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
}
