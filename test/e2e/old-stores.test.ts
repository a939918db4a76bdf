import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { toAccountId, toAgentId } from '../../src/core/ids.ts'
import { scopeKey } from '../../src/routing/session-key.ts'
import { withDatabase } from '../store/temp-database.ts'
import { AwaitedLog } from './awaited-log.ts'
import { parley } from './house-command.ts'
import { startHousehold } from './household.ts'

const STORES = new URL('../fixtures/imports/', import.meta.url).pathname
const SENTENCE = 'An older program has conversations here; none is imported by itself'

function homeWith(stores: Readonly<Record<string, string>>): string {
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  for (const [program, place] of Object.entries(stores))
    cpSync(join(STORES, program), join(home, place), { recursive: true })
  return home
}

it('K39: a start that finds older programs says so once each with the command, and imports nothing by itself', async () => {
  const home = homeWith({ openclaw: '.openclaw', picoclaw: '.picoclaw', molf: 'work' })
  const logger = new AwaitedLog()
  const house = await startHousehold({ logger, oldStores: { home, cwd: join(home, 'work') } })
  const told = logger.lines.filter(({ sentence }) => sentence === SENTENCE).map(({ fields }) => fields)
  expect(told).toEqual([
    { program: 'PicoClaw', folder: join(home, '.picoclaw'), command: `parley import '${join(home, '.picoclaw')}'` },
    { program: 'OpenClaw', folder: join(home, '.openclaw'), command: `parley import '${join(home, '.openclaw')}'` },
    { program: 'Molf', folder: join(home, 'work'), command: `parley import '${join(home, 'work')}'` },
  ])
  expect((await house.daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: true })).total).toBe(0)
  await house.daemon.stop()
  for (const [index, count] of [2, 2, 1].entries()) {
    const done = await parley(house.config, ['import', String(told[index]?.folder)])
    expect(done.out).toContain(`${count} imported`)
  }
})

it('a start where there is none says nothing of it', async () => {
  const logger = new AwaitedLog()
  await startHousehold({ logger, oldStores: { home: homeWith({}), cwd: homeWith({}) } })
  expect(logger.lines.map(({ sentence }) => sentence)).not.toContain(SENTENCE)
})

it('K39: a chat goes on from its imported session at the next message', async () => {
  const home = homeWith({ openclaw: '.openclaw' })
  const house = await startHousehold({ script: () => ({ blocks: [{ type: 'text', text: 'At seven.' }] }) })
  await house.daemon.stop()
  await parley(house.config, ['import', join(home, '.openclaw')])
  await house.restart()
  house.telegram.world.say({ from: 111, text: 'and when does it leave?' })
  await house.telegram.ledger.nextFromBot('sent')
  const said = JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)
  expect(said).toContain('Ada booked the early train.')
  expect(said).toContain('Platform 4.')
  expect(said).not.toContain('This branch was left.')
})

/** The key of a group by which an older program and this one know it. */
function hashOf(chat: number | undefined): string {
  return scopeKey({
    ...({ version: 1, agent: toAgentId('main'), channel: 'telegram', account: toAccountId('') } as const),
    ...{ dimensions: ['chat'], values: { chat: `group:${chat}` } },
  })
}

it('K39, S27: a group whose key is a hash in the older program goes on as a group, whose people have names', async () => {
  const house = await startHousehold({ script: () => ({ blocks: [{ type: 'text', text: 'Noted.' }] }) })
  const { world, ledger } = house.telegram
  const [group, other] = ['Family', 'Choir'].map((title) => {
    return world.addChat({ type: 'supergroup', title, members: [111, 444] }).id
  })
  const say = async (chat: number | undefined, from: number, text: string) => {
    const after = ledger.mark()
    world.say({ from, ...(chat === undefined ? {} : { chat }), text: `@parley_bot ${text}` })
    await ledger.nextFromBot('sent', { after })
    return JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)
  }
  await say(other, 444, 'hello')
  await house.daemon.stop()
  const old = join(house.dataDir, 'old')
  mkdirSync(old)
  for (const [name, chat] of Object.entries({ group, other })) {
    const key = hashOf(chat)
    writeFileSync(join(old, `${name}.jsonl`), '{"role":"user","content":"Bo feeds the cat."}\n')
    writeFileSync(join(old, `${name}.meta.json`), JSON.stringify({ key }))
  }
  const done = await parley(house.config, ['import', old])
  expect(done.out).toContain('1 imported, 0 there already, 0 skipped, 1 not, since their chats have begun here')
  await house.restart()
  const shown = await say(group, 444, 'who feeds the cat?')
  expect(shown).toContain('[imported] Bo feeds the cat.')
  expect(shown).toContain('[Bob] @parley_bot who feeds the cat?')
  await house.daemon.stop()
  expect((await parley(house.config, ['import', old])).out).toContain('0 imported, 1 there already')
})

it.each([
  ['a name', (chat: number) => `agent:main:telegram:group:${chat}`],
  ['a hash', hashOf],
])(
  'S41, K27: a chat that is forgotten before anybody has spoken there has nothing of its older conversation, known by %s',
  async (_what, keyOf) => {
    const house = await startHousehold({ script: () => ({ blocks: [{ type: 'text', text: 'Noted.' }] }) })
    const { world, ledger } = house.telegram
    const { id: chat } = world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
    await house.daemon.stop()
    const old = join(house.dataDir, 'old')
    mkdirSync(old)
    writeFileSync(join(old, 'a.jsonl'), '{"role":"user","content":"The code is bluebird."}\n')
    writeFileSync(join(old, 'a.meta.json'), JSON.stringify({ key: keyOf(chat) }))
    await parley(house.config, ['import', old])
    await house.restart()
    const say = async (text: string) => {
      const after = ledger.mark()
      world.say({ from: 111, chat, text })
      return (await ledger.nextFromBot('sent', { after })).text
    }
    expect(await say('/forget chat')).toContain('entries of logs')
    await say('/forget chat yes')
    await say('@parley_bot hello')
    expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)).not.toContain('bluebird')
    const logged = withDatabase(join(house.dataDir, 'parley.db'), (database) =>
      JSON.stringify(database.prepare('SELECT data FROM events').all()),
    )
    expect(logged).not.toContain('bluebird')
  },
)

it('K27: a chat that begins with /new continues no older conversation', async () => {
  const home = homeWith({ openclaw: '.openclaw' })
  const house = await startHousehold({ script: () => ({ blocks: [{ type: 'text', text: 'At seven.' }] }) })
  await house.daemon.stop()
  await parley(house.config, ['import', join(home, '.openclaw')])
  await house.restart()
  const { world, ledger } = house.telegram
  const say = async (text: string) => {
    const after = ledger.mark()
    world.say({ from: 111, text })
    return (await ledger.nextFromBot('sent', { after })).text
  }
  expect(await say('/new')).toContain('a fresh conversation')
  await say('hello')
  expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)).not.toContain('early train')
})
