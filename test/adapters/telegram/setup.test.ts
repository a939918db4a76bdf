import { afterEach, describe, expect, test } from 'vitest'
import {
  startTelegramServer,
  type TelegramServer,
  type TelegramServerOptions,
} from '../../../src/rehearsal/telegram/server.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'
import { examine, findingsOf, placeOf, setupOf, troubles } from '../examine.ts'
import { ManualClock } from './manual-clock.ts'
import { adapterFor, webhookSettings } from './rig.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

/** A bot that may read everything, so that nothing about it is remarkable. */
async function start(options: TelegramServerOptions = {}): Promise<TelegramServer> {
  const bots = [{ token: '7000001:rehearsal', canReadAllGroupMessages: true }]
  const server = await startTelegramServer({ bots, ...options })
  open.push(server)
  return server
}

const blockOf = ({ token, apiRoot }: TelegramServer): object => ({ token, apiRoot })

describe('the bot', () => {
  test('a good account has no trouble, an identity and the link that adds it to a group', async () => {
    const server = await start()
    const examination = await examine('telegram', blockOf(server))

    expect(troubles(examination)).toEqual(['second-poller skipped'])
    expect(examination.identity).toMatchObject({ id: '7000001', username: 'parley_bot' })
    expect(examination.invite).toBe('https://t.me/parley_bot?startgroup')
  })

  test('a refused token is the only finding, and says where a new one comes from', async () => {
    const server = await start()
    const examination = await examine('telegram', { ...blockOf(server), token: '7000001:revoked' })

    expect(examination.findings).toEqual([
      expect.objectContaining({
        check: 'token',
        state: 'failed',
        remedy: expect.stringMatching(/\/token.*@BotFather/),
      }),
    ])
    expect(JSON.stringify(examination)).not.toContain('revoked:')
  })

  test('an apiRoot that is no Bot API server is named beside the token', async () => {
    const server = await start()
    const wrong = { token: server.token, apiRoot: `${server.apiRoot}/telegram` }
    const [finding] = findingsOf(await examine('telegram', wrong), 'token')

    expect(finding?.says).toMatch(/check apiRoot/)
  })

  test('privacy mode says both halves of its remedy', async () => {
    const server = await start({ bots: [{ token: '7000001:rehearsal' }] })
    const [finding] = findingsOf(await examine('telegram', blockOf(server)), 'privacy-mode')

    expect(finding).toMatchObject({ state: 'warning' })
    expect(finding?.remedy).toMatch(
      /\/setprivacy.*@parley_bot.*Disable.*remove the bot from each group and add it again/,
    )
  })

  test('in privacy mode each group says so in which the bot is no administrator', async () => {
    const server = await start({ bots: [{ token: '7000001:rehearsal' }] })
    const [plain, admin] = [
      server.world.addChat({ type: 'supergroup', title: 'plain' }),
      server.world.addChat({ type: 'supergroup', title: 'admin', botStatus: 'administrator' }),
    ]
    const places = [placeOf('telegram', plain.id), placeOf('telegram', admin.id)]
    const rights = findingsOf(await examine('telegram', blockOf(server), { places }), 'rights')

    expect(rights).toEqual([
      expect.objectContaining({
        state: 'warning',
        says: expect.stringMatching(`^${plain.id}: .*only what addresses it`),
      }),
    ])
  })

  test('a bot that may not be added to groups says how it is let in', async () => {
    const server = await start({
      bots: [{ token: '7000001:rehearsal', canReadAllGroupMessages: true, canJoinGroups: false }],
    })
    const [finding] = findingsOf(await examine('telegram', blockOf(server)), 'joins-groups')

    expect(finding).toMatchObject({ state: 'warning', remedy: expect.stringContaining('/setjoingroups') })
  })
})

describe('receiving', () => {
  test('a webhook that is left set while the account polls is named by its host alone', async () => {
    const server = await start()
    server.world.bot().webhook.set({ url: 'https://old.example.org/secret-path', secretToken: '', maxConnections: 40 })
    const examination = await examine('telegram', blockOf(server), { beside: false })
    const [finding] = findingsOf(examination, 'webhook')

    expect(finding).toMatchObject({ state: 'failed', remedy: expect.stringContaining('`parley start`') })
    expect(finding?.says).toContain('old.example.org')
    expect(JSON.stringify(examination)).not.toContain('secret-path')
    expect(findingsOf(examination, 'second-poller')).toEqual([])
  })

  test('another program that polls is found, and polls again', async () => {
    const server = await start()
    const other = adapterFor(server)
    open.unshift({ close: () => other.stop() })
    await other.start(new RecordingSink(), new AbortController().signal)
    await server.ledger.listening()
    const [finding] = findingsOf(await examine('telegram', blockOf(server), { beside: false }), 'second-poller')

    expect(finding).toMatchObject({ state: 'failed', remedy: expect.stringMatching(/\/newbot.*\/revoke/) })
    const polls = server.ledger.all((entry) => entry.kind === 'poll' && entry.timeoutSeconds > 20)
    expect(polls).toHaveLength(2)
  })

  test('updates that wait are neither confirmed nor dropped by the look for another poller', async () => {
    const server = await start()
    const ada = server.world.addUser({ firstName: 'Ada' })
    server.world.say({ from: ada, text: 'hello' })
    const { pending } = server.world.bot().queue
    const examination = await examine('telegram', blockOf(server), { beside: false })

    expect(troubles(examination)).toEqual([])
    expect(pending).toBeGreaterThan(0)
    expect(server.world.bot().queue.pending).toBe(pending)
  })

  test('while a daemon runs beside it nothing is polled', async () => {
    const server = await start()
    await examine('telegram', blockOf(server), { beside: true })

    expect(server.ledger.entries.map((entry) => ('method' in entry ? entry.method : entry.kind))).not.toContain(
      'getUpdates',
    )
  })

  test('mode webhook: one that is not set, another one, one with an error and a good one', async () => {
    const server = await start()
    const settings = await webhookSettings()
    const block = { ...blockOf(server), ...settings }
    const { webhook } = server.world.bot()
    const found = async (beside: boolean) => findingsOf(await examine('telegram', block, { beside }), 'webhook')[0]

    expect(await found(false)).toMatchObject({ state: 'ok' })
    expect(await found(true)).toMatchObject({ state: 'failed', says: expect.stringContaining('nothing arrives') })
    webhook.set({ url: 'https://other.example.org/', secretToken: '', maxConnections: 40 })
    expect(await found(true)).toMatchObject({ state: 'failed', says: expect.stringContaining('other.example.org') })
    webhook.set({ url: settings.webhookUrl, secretToken: 'another', maxConnections: 40 })
    expect(await found(true)).toMatchObject({ state: 'ok' })
    server.faults.add({
      method: 'getWebhookInfo',
      times: 2,
      action: {
        kind: 'answer',
        when: 'before',
        status: 200,
        body: {
          ok: true,
          result: { url: settings.webhookUrl, pending_update_count: 2, last_error_message: 'Bad Gateway' },
        },
      },
    })
    expect(await found(true)).toMatchObject({
      state: 'failed',
      says: expect.stringMatching(/2 updates wait.*Bad Gateway/),
      remedy: expect.stringContaining(`127.0.0.1:${settings.listen.port}/telegram/webhook`),
    })
  })
})

describe('rights in the known groups', () => {
  test('each group in which the bot cannot write is named with its title, its id and its own remedy', async () => {
    const server = await start()
    const { world } = server
    const [barred, gone, mute, admins, filesOff, fine] = ['barred', 'gone', 'mute', 'admins', 'files', 'fine'].map(
      (title) => world.addChat({ type: 'supergroup', title }),
    )
    if (!barred || !gone || !mute || !admins || !filesOff || !fine) throw new Error('there are six')
    const bot = world.bot().user
    world.setMember({ chat: barred, user: bot, status: 'kicked' })
    world.setMember({ chat: gone, user: bot, status: 'left' })
    world.setMember({ chat: mute, user: bot, status: 'restricted' })
    world.chat(admins).membersMay = { can_send_messages: false }
    world.chat(filesOff).membersMay = { can_send_messages: true, can_send_documents: false }
    const old = world.addChat({ type: 'group', title: 'old' })
    const fresh = world.migrate(old)
    const news = world.addChat({ type: 'channel', title: 'news', botStatus: 'member' })
    const known = [barred, gone, mute, admins, filesOff, fine, old].map(({ id, title = '' }) =>
      placeOf('telegram', id, { title }),
    )
    const places = [
      ...known,
      placeOf('telegram', news.id, { title: 'news', chatType: 'channel' }),
      placeOf('telegram', -1_009_999),
      placeOf('telegram', 1001, { chatType: 'direct' }),
    ]
    const rights = findingsOf(await examine('telegram', blockOf(server), { places }), 'rights')
    const of = (name: string) => rights.find(({ says }) => says.startsWith(name))

    expect(of(`"barred" (${barred.id}): `)).toMatchObject({
      state: 'failed',
      remedy: expect.stringContaining('unblock'),
    })
    expect(of('"gone"')).toMatchObject({ state: 'failed', remedy: expect.stringContaining('Add Members') })
    expect(of('"mute"')).toMatchObject({ state: 'failed', remedy: expect.stringContaining('Send Messages') })
    expect(of('"admins"')).toMatchObject({ state: 'failed', remedy: expect.stringContaining('Administrators') })
    expect(of('"files"')).toMatchObject({ state: 'warning' })
    expect(of('"old"')).toMatchObject({ state: 'warning', says: expect.stringContaining(String(fresh.id)) })
    expect(of('"news"')).toMatchObject({ state: 'failed', remedy: expect.stringContaining('Post Messages') })
    expect(of('-1009999')).toMatchObject({ state: 'failed', says: expect.stringContaining('not there') })
    expect(rights).toHaveLength(8)
  })

  test('groups without trouble are one line, and their topics are not asked about one by one', async () => {
    const server = await start()
    const chat = server.world.addChat({ type: 'supergroup', title: 'Team', forum: true })
    const places = [
      placeOf('telegram', chat.id, { topic: '7' }),
      placeOf('telegram', chat.id, { topic: '8' }),
      placeOf('telegram', chat.id),
    ]
    const rights = findingsOf(await examine('telegram', blockOf(server), { places }), 'rights')

    expect(rights).toEqual([expect.objectContaining({ state: 'ok', says: 'the bot may write in the known group' })])
  })

  test('of more than forty groups the others are counted', async () => {
    const server = await start()
    const places = Array.from({ length: 43 }, () =>
      placeOf('telegram', server.world.addChat({ type: 'supergroup', title: 'x' }).id),
    )
    const rights = findingsOf(await examine('telegram', blockOf(server), { places }), 'rights')

    expect(rights.map(({ says }) => says)).toEqual([
      'the bot may write in the 40 known groups',
      '3 more conversations were not asked about',
    ])
  })
})

test('a platform that holds back the rights ends the examination within 30 s, and it says that not all was asked', async () => {
  const server = await start()
  const clock = new ManualClock()
  const places = Array.from({ length: 20 }, () =>
    placeOf('telegram', server.world.addChat({ type: 'supergroup', title: 'x' }).id),
  )
  const held = server.faults.add({ method: 'getChatMember', times: 20, action: { kind: 'hold', when: 'before' } })
  const examining = examine('telegram', blockOf(server), { places, clock })
  await held.reached
  await server.ledger.nextCall('getWebhookInfo')
  await clock.advance(30_000)

  expect(troubles(await examining)).toContain('time skipped')
  expect(clock.pending).toBe(0)
})

test('an examination calls nothing that changes anything', async () => {
  const server = await start()
  const chat = server.world.addChat({ type: 'supergroup', title: 'Team' })
  server.world.bot().poller.holds = false
  await examine('telegram', blockOf(server), { places: [placeOf('telegram', chat.id)], beside: false })
  const called = new Set(
    server.ledger.all((entry) => entry.kind === 'call').map((entry) => String(Reflect.get(entry, 'method'))),
  )

  expect([...called].sort()).toEqual(['getChat', 'getChatMember', 'getMe', 'getUpdates', 'getWebhookInfo'])
})

test.each([
  ['bot7000001:abcdef', 'begins with "bot"'],
  ['@parley_bot', 'username'],
  ['7000001', 'only the number'],
  ['AAEabcdefghijklmnopqrstuvwxyz0123456', 'lacks the number'],
])('a token %s says what is wrong with it', async (text, words) => {
  const [secret] = (await setupOf('telegram')).secrets
  expect(secret?.mistake(text)).toContain(words)
})
