import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { shareOf } from '../sample.ts'
import { type Actor, fateOf, type GroupStage, heardOf, openStage, PLATFORMS, ROBOTS } from './group-stages.ts'

/** Answers with what it was asked last, silent when nobody spoke to it. */
const attentive: Script = (request) => {
  const asked = lastUserText(request).split('\n').at(-1) ?? ''
  return textReply(asked.includes('[not directed at you]') ? '<NO_REPLY>' : `heard ${asked}`)
}

const groups = (more: object = {}) => [{ match: {}, who: 'public', trigger: 'mention', ...more } as const]
const access = (more: object = {}) => ({ direct: 'allowlist', groups: groups(more) }) as const

/** What the model was last asked, whole. */
const lastPrompt = ({ anthropic }: GroupStage): string => {
  const request = anthropic.ledger.requests().at(-1)
  return request ? lastUserText(request) : ''
}

interface GroupCase {
  readonly title: string
  readonly actor: Actor
  readonly text: (stage: GroupStage) => string
  readonly fate: string
  /** The last line of the prompt; undefined: the model is not called. */
  readonly line: string | undefined
}

const CASES: readonly GroupCase[] = [
  {
    title: 'S24: an owner message triggers without a mention and S26: reaches the model with the tag',
    actor: 'ada',
    text: () => 'thinking aloud',
    fate: 'run/owner silent',
    line: '[Ada] [not directed at you] thinking aloud',
  },
  {
    title: 'S24: an owner message triggers with a mention, untagged',
    actor: 'ada',
    text: ({ mention }) => `${mention} and you?`,
    fate: 'run/mentioned answered',
    line: 'and you?',
  },
  {
    title: 'S24: an owner is answered also when she speaks to others, S26: tagged',
    actor: 'ada',
    text: ({ mentionCy }) => `${mentionCy} dinner?`,
    fate: 'run/owner silent',
    line: '[not directed at you]',
  },
  {
    title: "S25: another's mention triggers",
    actor: 'bob',
    text: ({ mention }) => `${mention} when is dinner?`,
    fate: 'run/mentioned answered',
    line: '[Bob]',
  },
  {
    title: "S25: another's message without a mention is stored and does not trigger",
    actor: 'bob',
    text: () => 'dinner at seven',
    fate: 'context/not_addressed context',
    line: undefined,
  },
  {
    title: "S25: another's message to somebody else does not trigger",
    actor: 'bob',
    text: ({ mentionCy }) => `${mentionCy} dinner?`,
    fate: 'context/others_mentioned context',
    line: undefined,
  },
  {
    title: 'S25: a wake word counts as a mention',
    actor: 'bob',
    text: () => 'Butler, when is dinner?',
    fate: 'run/wake_word answered',
    line: '[Bob] Butler, when is dinner?',
  },
  {
    title: 'S25: another bot is context, whatever it says',
    actor: 'robot',
    text: ({ mention }) => `${mention} when is dinner?`,
    fate: 'context/bot context',
    line: undefined,
  },
]

describe.each(PLATFORMS)('S27: the same rules on %s', (platform) => {
  const cases = shareOf(CASES, PLATFORMS.indexOf(platform), PLATFORMS.length)
  it.each(cases.map((each) => [each.title, each] as const))('%s', async (_, { actor, text, fate, line }) => {
    const stage = await openStage(platform, { script: attentive, routing: { access: access(), wakeWords: ['butler'] } })
    expect(await fateOf(stage, stage.say(actor, text(stage)))).toBe(fate)
    expect(stage.anthropic.ledger.requests()).toHaveLength(line === undefined ? 0 : 1)
    if (line) expect(lastPrompt(stage).split('\n').at(-1)).toContain(line)
  })

  it('S27: the next prompt has what was said meanwhile, by name and tagged', async () => {
    const stage = await openStage(platform, { script: attentive })
    await fateOf(stage, stage.say('bob', 'dinner at seven'))
    await fateOf(stage, stage.say('cy', `${stage.mention} when?`))
    expect(lastPrompt(stage)).toContain('[Bob] [not directed at you] dinner at seven\n[Cy] ')
  })

  it('an edit is read by the turn that waits, shown as an edit later, and answered again where it is to be', async () => {
    const stage = await openStage(platform, { script: attentive })
    const dinner = stage.say('bob', 'dinner at sevn')
    await fateOf(stage, dinner)
    stage.edit(dinner, 'dinner at seven')
    await expect.poll(() => heardOf(stage, dinner, 'edit')).toBe(1)
    const question = stage.say('cy', `${stage.mention} wen?`)
    await fateOf(stage, question)
    expect(lastPrompt(stage)).toContain('[Bob] [not directed at you] dinner at seven\n')
    expect(lastPrompt(stage)).not.toContain('sevn')
    stage.edit(question, `${stage.mention} when?`)
    await expect.poll(() => heardOf(stage, question, 'edit')).toBe(1)
    await fateOf(stage, stage.say('bob', `${stage.mention} well?`))
    expect(lastPrompt(stage)).toMatch(/\[Cy\] \[edited an earlier message\] .*when\?\n\[Bob\]/)
    expect(stage.anthropic.ledger.requests()).toHaveLength(2)
  })

  it('edits: rerun answers an edited question again', async () => {
    const stage = await openStage(platform, { script: attentive, routing: { edits: 'rerun' } })
    const question = stage.say('bob', `${stage.mention} wen is dinner?`)
    await fateOf(stage, question)
    stage.edit(question, `${stage.mention} when is dinner?`)
    await expect.poll(() => stage.answers().length).toBe(2)
    expect(lastPrompt(stage)).toMatch(/^\[Bob\] \[edited an earlier message\] .*when is dinner\?$/)
  })

  it('edits: rerun answers a question that was edited while it waits once, as it reads by then', async () => {
    const gate = createGate()
    const script: Script = (request, turn) =>
      lastUserText(request).includes('slow')
        ? textReply('done', { holds: [{ beforeDelta: 0, gate }] })
        : attentive(request, turn)
    const stage = await openStage(platform, { script, routing: { edits: 'rerun' } })
    stage.say('bob', `${stage.mention} slow`)
    await gate.reached
    const question = stage.say('cy', `${stage.mention} wen?`)
    await expect.poll(() => stage.daemon.operator.why(question)).not.toEqual([])
    stage.edit(question, `${stage.mention} when?`)
    await expect.poll(() => heardOf(stage, question, 'edit')).toBe(1)
    gate.release()
    expect(await fateOf(stage, question)).toBe('run/mentioned answered')
    await fateOf(stage, stage.say('bob', `${stage.mention} next`))
    const edit = (await stage.daemon.operator.why(question)).find(({ event }) => event === 'edit')
    expect(edit).toMatchObject({ decision: 'amend', outcome: 'edited' })
    const prompts = stage.anthropic.ledger.requests().map(lastUserText)
    expect(prompts).toEqual([
      expect.stringContaining('slow'),
      expect.stringMatching(/^\[Cy\] .*when\?$/),
      expect.stringContaining('next'),
    ])
  })

  it('F-D11: a bot that may talk is stopped within 20 turns, people are answered, and they begin a new budget', async () => {
    const robots = { bots: 'mentioned', botIds: [ROBOTS[platform]] }
    const stage = await openStage(platform, { script: attentive, routing: { access: access(robots) } })
    const fates: string[] = []
    for (let round = 0; round < 23; round++) {
      fates.push(await fateOf(stage, stage.say('robot', `${stage.mention} round ${round}`)))
    }
    expect(fates).toEqual([
      ...Array.from({ length: 20 }, () => 'run/mentioned answered'),
      ...Array.from({ length: 3 }, () => 'context/bot_budget context'),
    ])
    expect((await stage.daemon.operator.status()).botsHeld).toHaveLength(1)
    expect(await fateOf(stage, stage.say('bob', `${stage.mention} what is going on?`))).toBe('run/mentioned answered')
    expect(lastPrompt(stage)).toContain('round 22')
    expect((await stage.daemon.operator.status()).botsHeld).toEqual([])
    expect(await fateOf(stage, stage.say('robot', `${stage.mention} again`))).toBe('run/mentioned answered')
  })
})

describe.each(['discord', 'slack'] as const)('a deletion on %s', (platform) => {
  it('takes the text out of later prompts', async () => {
    const stage = await openStage(platform, { script: attentive })
    const secret = stage.say('bob', 'the code is 1234')
    const question = stage.say('bob', `${stage.mention} my code is 5678`)
    await fateOf(stage, question)
    stage.remove?.(question)
    stage.remove?.(secret)
    await expect.poll(() => heardOf(stage, secret, 'delete')).toBe(1)
    await fateOf(stage, stage.say('cy', `${stage.mention} which code?`))
    const request = JSON.stringify(
      stage.anthropic.ledger
        .requests()
        .at(-1)
        ?.messages.filter(({ role }) => role === 'user'),
    )
    expect(request).toContain('[deleted this message]')
    expect(request).not.toMatch(/1234|5678/)
  })

  it('takes the text off the name that other sessions see', async () => {
    const stage = await openStage(platform, { script: attentive })
    const names = async () => {
      const { sessions } = await stage.daemon.operator.sessions.list({ limit: 5, offset: 0, inactive: false })
      return sessions.map(({ description }) => description)
    }
    const secret = stage.say('bob', `${stage.mention} the code is 1234`)
    await fateOf(stage, secret)
    expect((await names()).join()).toContain('1234')
    stage.remove?.(secret)
    await expect.poll(() => heardOf(stage, secret, 'delete')).toBe(1)
    expect((await names()).join()).not.toContain('1234')
    await fateOf(stage, stage.say('cy', `${stage.mention} lunch?`))
    expect((await names()).join()).toContain('lunch?')
  })

  it('of a message that waits leaves it unanswered', async () => {
    const gate = createGate()
    const script: Script = (request, turn) =>
      lastUserText(request).includes('slow')
        ? textReply('done', { holds: [{ beforeDelta: 0, gate }] })
        : attentive(request, turn)
    const stage = await openStage(platform, { script })
    const slow = stage.say('bob', `${stage.mention} slow`)
    await gate.reached
    const regretted = stage.say('bob', `${stage.mention} regretted`)
    stage.remove?.(regretted)
    await expect.poll(() => heardOf(stage, regretted, 'delete')).toBe(1)
    gate.release()
    expect(await fateOf(stage, slow)).toBe('run/mentioned answered')
    expect(await fateOf(stage, regretted)).toBe('run/mentioned deleted')
    await fateOf(stage, stage.say('bob', `${stage.mention} next`))
    expect(JSON.stringify(stage.anthropic.ledger.requests())).not.toContain('regretted')
    expect(stage.anthropic.ledger.requests()).toHaveLength(2)
  })
})
