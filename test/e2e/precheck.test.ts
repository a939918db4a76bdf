import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { WhyReport } from '../../src/core/operator.ts'
import type { Precheck } from '../../src/core/precheck.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { type Household, startHousehold } from './household.ts'

const CHECK: Precheck = { model: 'anthropic/small', ask: 'questions about the garden' }
const POLL = { timeout: 20_000, interval: 20 }

interface Club extends Household {
  readonly group: number
  /** Bob says something in the group. Returns what is known of it once it is done. */
  say(text: string): Promise<WhyReport>
}

/** A group where everything that is said starts a turn, with a check before it. */
async function club(script: Script, session: Partial<Config['session']> = {}, precheck = CHECK): Promise<Club> {
  const home = await startHousehold({
    script,
    routing: {
      ownerAlwaysTriggers: false,
      access: { direct: 'owner', groups: [{ match: {}, who: 'public', trigger: 'always', precheck }] },
    },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/large', prompt: 'You are calm.', tools: [] }],
      session: { queue: { max: 100, busy: 'queue' }, ...session },
    },
  })
  const { id: group } = home.telegram.world.addChat({ type: 'group', title: 'Club', members: [111, 444] })
  return Object.assign(home, { group, say: (text: string) => done(home, say(home, group, text)) })
}

const say = ({ telegram }: Household, group: number, text: string): number =>
  telegram.world.say({ from: 444, chat: group, text }).message_id

async function done({ daemon }: Household, message: number): Promise<WhyReport> {
  const look = async () => (await daemon.operator.why(String(message)))[0]
  await expect.poll(async () => (await look())?.outcome, POLL).toMatch(/^(silent|answered|failed|cancelled)$/)
  const report = await look()
  if (!report) throw new Error('the message is not known')
  return report
}

const asked = ({ anthropic }: Household, model: string) =>
  (anthropic?.ledger.requests() ?? []).filter((request) => request.model === model)

const shownTo = (home: Household, model: string): string => JSON.stringify(asked(home, model).at(-1))

/** The small model gives the verdict, the large one the answer. */
const models =
  (verdict: string, answer = 'Here I am.'): Script =>
  ({ model }) =>
    textReply(model === 'small' ? verdict : answer)

describe('a check before the agent is asked', () => {
  it('says no: nothing is sent, the agent costs nothing, and why has who decided and for which reason', async () => {
    const home = await club(models('no: they talk about lunch'))
    const report = await home.say('Pizza or pasta?')
    expect(asked(home, 'large')).toEqual([])
    expect(shownTo(home, 'small')).toContain('Pizza or pasta?')
    expect(shownTo(home, 'small')).toContain('questions about the garden')
    expect(report).toMatchObject({
      outcome: 'silent',
      precheck: '✗ pre-check: no, they talk about lunch (anthropic/small)',
    })
    expect(report.summary).toBe(
      'Remembered and not answered: the pre-check decided that the agent is not asked (they talk about lunch); the setting routing.access.groups[].precheck changes that.',
    )
    expect(home.telegram.world.messages(home.group, { by: 'bot' })).toEqual([])
  })

  it('C44: leaves nothing of its run in the session but the messages, which the agent reads with the next turn', async () => {
    const verdicts = ['no: lunch', 'no: lunch', 'yes: they ask for help']
    const home = await club(({ model }) => textReply(model === 'small' ? (verdicts.shift() ?? 'yes') : 'Basil.'))
    await home.say('Pizza or pasta?')
    await home.say('Pasta!')
    const { session = '' } = await home.say('What goes with it?')
    const { messages = [] } = asked(home, 'large').at(-1) ?? {}
    expect(messages).toHaveLength(1)
    const shown = JSON.stringify(messages)
    expect(shown.indexOf('Pizza or pasta?')).toBeLessThan(shown.indexOf('Pasta!'))
    expect(shown.indexOf('Pasta!')).toBeLessThan(shown.indexOf('What goes with it?'))
    expect(shown.split('[time:')).toHaveLength(2)
    const { events } = await home.daemon.operator.sessions.history(session, { limit: 200 })
    expect(JSON.stringify(events)).not.toContain('lunch')
    expect(events.filter(({ type }) => type === 'assistant_message')).toHaveLength(1)
    await home.restart()
    await home.say('And to drink?')
    const after = JSON.stringify(asked(home, 'large').at(-1)?.messages)
    for (const text of ['Pizza or pasta?', 'Pasta!', 'What goes with it?', 'Basil.', 'And to drink?'])
      expect(after.split(text), text).toHaveLength(2)
  })

  it('says yes: the agent answers, and the tokens of both count', async () => {
    const home = await club(({ model }) =>
      model === 'small'
        ? textReply('Yes: they ask for help', { usage: { input_tokens: 20, output_tokens: 7 } })
        : textReply('Here I am.', { usage: { input_tokens: 300, output_tokens: 5 } }),
    )
    const report = await home.say('Who knows about basil?')
    expect(report).toMatchObject({
      outcome: 'answered',
      precheck: '✓ pre-check: yes, they ask for help (anthropic/small)',
    })
    const { spentToday } = await home.daemon.operator.status()
    expect(spentToday).toMatchObject({ turns: 1, usage: { input: 320, output: 12 } })
  })

  it('reads the newest words alone, however long the conversation is', async () => {
    const home = await club(models('yes'))
    await home.say('Who knows about basil?')
    await home.say('And about mint?')
    expect(shownTo(home, 'small')).toContain('And about mint?')
    expect(shownTo(home, 'small')).not.toContain('basil')
  })

  it('may be a file of fixed rules', async () => {
    const home = await club(models('never asked'), {}, { model: 'scripted/rules.yaml' })
    const rules =
      "[{ when: { contains: garden }, steps: [{ text: 'yes: the garden' }] }, { steps: [{ silence: true }] }]"
    writeFileSync(join(home.dataDir, 'rules.yaml'), `rules: ${rules}`)
    expect(await home.say('Pizza or pasta?')).toMatchObject({ outcome: 'silent' })
    const report = await home.say('How is the garden?')
    expect(report).toMatchObject({
      outcome: 'answered',
      precheck: '✓ pre-check: yes, the garden (scripted/rules.yaml)',
    })
    expect(asked(home, 'small')).toEqual([])
  })

  it('C10: is not asked where the session has had all its turns', async () => {
    const home = await club(models('yes'), { turnCap: { chat: 1 } })
    expect(await home.say('Who knows about basil?')).toMatchObject({ outcome: 'answered' })
    expect(await home.say('And about mint?')).toMatchObject({ outcome: 'failed' })
    expect(asked(home, 'small')).toHaveLength(1)
  })

  it('is not asked where somebody addresses the agent', async () => {
    const home = await club(models('no: never'))
    expect(await home.say('@parley_bot are you there?')).toMatchObject({ outcome: 'answered' })
    expect(asked(home, 'small')).toEqual([])
  })

  it.each([
    ['an error', { error: { status: 400, type: 'invalid_request_error' } }, /failed/],
    ['neither yes nor no', textReply('Perhaps.'), /neither yes nor no/],
    ['nothing', textReply(''), /neither yes nor no|failed|was empty/],
  ])('keeps nobody from an answer with %s', async (_, reply, because) => {
    const home = await club(({ model }) => (model === 'small' ? reply : textReply('Here I am.')))
    const report = await home.say('Who knows about basil?')
    expect(report.outcome).toBe('answered')
    expect(report.precheck).toMatch(because)
  })

  it('is stopped with its turn', async () => {
    const checking = deferred<void>()
    const home = await club(async ({ model }) => {
      if (model === 'small') checking.resolve()
      await (model === 'small' ? new Promise(() => {}) : undefined)
      return textReply('Here I am.')
    })
    const message = say(home, home.group, 'Who knows about basil?')
    await checking.promise
    home.telegram.world.say({ from: 111, chat: home.group, text: '/stop@parley_bot' })
    expect(await done(home, message)).toMatchObject({ outcome: 'cancelled' })
    expect(asked(home, 'large')).toEqual([])
  })
})

it('S28: the reason that a model gives for its silence is in why, and nowhere in the chat', async () => {
  const home = await club(models('yes', '<NO_REPLY: they are among themselves>'))
  const report = await home.say('Pizza or pasta?')
  expect(report).toMatchObject({ outcome: 'silent', silence: 'they are among themselves' })
  expect(report.summary).toBe(
    'Read and not answered: the agent chose to say nothing (they are among themselves); its instructions change that.',
  )
  expect(home.telegram.world.messages(home.group, { by: 'bot' })).toEqual([])
})
