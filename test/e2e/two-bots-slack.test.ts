import { expect, it, onTestFinished } from 'vitest'
import type { EditPolicy } from '../../src/core/policy.ts'
import { startSlackServer } from '../../src/rehearsal/slack/server.ts'
import { heard, holding } from './forgetting-house.ts'
import { startSlackHousehold } from './slack-household.ts'

const CHANNEL = 'C0SHARED'
const CANARY = 'canaryboth'

/** Two apps of one daemon in one channel of a workspace; what is said there comes to both, also what a bot says. */
async function twoApps({ team = 'T01', edits = 'update' as EditPolicy } = {}) {
  const names = { botToken: 'xoxb-sage', appToken: 'xapp-sage', botName: 'sage' }
  const app = { ...names, team, ids: { user: 'U0SAGE', bot: 'B0SAGE' } }
  const second = await startSlackServer({ app })
  onTestFinished(() => second.close())
  const { botToken, appToken } = app
  const ready = second.ledger.nextSocket()
  const house = await startSlackHousehold({
    script: heard,
    others: { sage: { botToken, appToken, apiRoot: second.apiRoot } },
    routing: { channelDimensions: { slack: ['chat'] }, ownerAlwaysTriggers: false, edits },
  })
  await ready
  const servers = { parley: house.slack, sage: second }
  second.world.addUser({ id: 'U333', name: 'ada', displayName: 'Ada', team: 'T01' })
  second.world.addUser({ id: 'U444', name: 'bob', displayName: 'Bob', team: 'T01' })
  second.world.addUser({ id: 'U0BOT', name: 'parley', isBot: true, team: 'T01' })
  for (const { world } of Object.values(servers))
    world.addChannel({ id: CHANNEL, name: 'shared', members: ['U333', 'U444'] })
  const aside = async (text: string, from = 'U444') => {
    const { ts } = servers.parley.world.say({ from, channel: CHANNEL, text })
    servers.sage.world.say({ from, channel: CHANNEL, text, extra: { ts } })
    await Promise.all(Object.values(servers).map(({ ledger }) => ledger.confirmed(ts)))
  }
  /** Says something and returns what this bot says next. */
  const ask = async (bot: keyof typeof servers, text: string, from = 'U333') => {
    const { ledger } = servers[bot]
    const after = ledger.mark()
    await aside(text, from)
    return (await ledger.nextFromBot('sent', { after })).text
  }
  const prompt = () => JSON.stringify(house.anthropic.ledger.requests().at(-1)?.messages)
  return { house, servers, aside, ask, prompt }
}

it('F-D11: each of two apps in one channel answers once whoever addresses it, and never the other', async () => {
  const { servers, ask, prompt } = await twoApps()
  const { parley, sage } = servers
  expect(await ask('parley', '<@U0BOT> hello')).toContain('heard')
  const said = { channel: CHANNEL, text: '<@U0SAGE> canarybot', extra: { bot_id: 'B01', app_id: 'A01' } }
  const { ts } = sage.world.say({ from: 'U0BOT', ...said })
  await sage.ledger.confirmed(ts)
  expect(await ask('sage', '<@U0SAGE> good day')).toContain('heard')
  expect(prompt()).toContain('[app: parley] @sage canarybot')
  const answers = [parley, sage].map(({ ledger }) => new Set(ledger.fromBot().map(({ ts }) => ts)).size)
  expect(answers).toEqual([1, 1])
})

const TEAMS = [
  ['of one workspace', 'T01'],
  ['of two workspaces that share the channel', 'T02'],
] as const

it.each(TEAMS)('S41: the last message is forgotten by both apps %s', async (_whose, team) => {
  const { house, servers, ask, aside, prompt } = await twoApps({ team })
  await ask('sage', '<@U0SAGE> hello')
  await aside(`the key is ${CANARY}`, 'U333')
  await ask('sage', '<@U0SAGE> well?', 'U444')
  expect(prompt()).toContain(CANARY)
  const after = servers.parley.ledger.mark()
  await aside('<@U0BOT> !forget last', 'U333')
  expect((await servers.parley.ledger.nextWhisper({ after })).text).toMatch(/^Forgotten: .*2 received messages/)
  await ask('sage', '<@U0SAGE> and now?')
  expect(prompt()).not.toContain(CANARY)
  expect(holding(house.dataDir, CANARY)).toEqual([])
})

it.each(TEAMS)('S41: what comes to one of two apps %s, days later or by an edit, is not kept', async (_whose, team) => {
  const { house, servers, ask, aside, prompt } = await twoApps({ team, edits: 'rerun' })
  const { parley, sage } = servers
  await ask('sage', '<@U0SAGE> hello')
  await ask('parley', '<@U0BOT> hello')
  const forget = async () => {
    const after = parley.ledger.mark()
    await aside('<@U0BOT> !forget last', 'U444')
    expect((await parley.ledger.nextWhisper({ after })).text).toMatch(/^Forgotten: .*1 received message/)
  }
  const late = { from: 'U444', channel: CHANNEL, text: `the key is ${CANARY}`, extra: { ts: '1700000000.000100' } }
  await parley.ledger.confirmed(parley.world.say(late).ts)
  await forget()
  const { ts } = sage.world.say(late)
  await sage.ledger.confirmed(ts)
  const said = parley.world.say({ from: 'U444', channel: CHANNEL, text: `the code is ${CANARY}` })
  await parley.ledger.confirmed(said.ts)
  await forget()
  const text = `<@U0SAGE> the code is ${CANARY}`
  const message = { ...said, text, edited: { user: 'U444', ts: '1900000000.000100' } }
  const previous_message = { ...said, text: 'before' }
  sage.world.raw({ type: 'message', subtype: 'message_changed', channel: CHANNEL, message, previous_message })
  await ask('sage', '<@U0SAGE> and now?')
  expect(prompt()).not.toContain(CANARY)
  expect(holding(house.dataDir, CANARY)).toEqual([])
})
