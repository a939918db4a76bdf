import { describe, expect, it } from 'vitest'
import { compileWakeWords, findWakeWord } from '../../src/routing/wake-words.ts'
import { decide, decidingStep, verdict } from '../fakes/decide.ts'
import { group, message, user } from '../fakes/dispatch.ts'
import { household } from '../fakes/routing-policy.ts'

describe('a wake word', () => {
  it.each<[text: string, word: string]>([
    ['Parley, what time is it?', 'parley'],
    ['what time is it, PARLEY?', 'parley'],
    ['ask (parley)!', 'Parley'],
    ['hey   robot\nhelp', 'hey robot'],
    ['Straße frei?', 'STRASSE'],
    ['Кеша, привет', 'кеша'],
    ['Σωκράτης;', 'ΣΩΚΡΆΤΗΣ'],
    ['cafe\u0301!', 'café'],
    ['ｐａｒｌｅｙ help', 'parley'],
    ['小助手帮我', '小助手'],
    ['パーリー、教えて', 'パーリー'],
    ['and parley.', 'parley'],
    ['👋parley👋', 'parley'],
    ['parleys and then parley', 'parley'],
    ['c++?', 'c++'],
    ['https://example.org parley, what is that?', 'parley'],
  ])('%j is addressed by %j', (text, word) => {
    expect(findWakeWord(text, compileWakeWords([word]))).toBe(word)
  })

  it.each<[text: string, word: string]>([
    ['parleys are talks', 'parley'],
    ['unparley', 'parley'],
    ['parley_bot', 'parley'],
    ['see https://parley.example.org/x', 'parley'],
    ['see https://example.org/search?q=parley&x=1#parley', 'parley'],
    ['hey https://example.org robot', 'hey robot'],
    ['mail me@parley.example', 'parley'],
    ['open docs/parley.md', 'parley'],
    ['@parley2', 'parley'],
    ['кешами', 'кеша'],
    ['parle\u0301y', 'parley'],
    ['hey, robot', 'hey robot'],
    ['', 'parley'],
  ])('%j is not addressed by %j', (text, word) => {
    expect(findWakeWord(text, compileWakeWords([word]))).toBeUndefined()
  })

  it('is no pattern, whatever signs it has', () => {
    const words = compileWakeWords(['(a+)+$', '.*'])
    expect(findWakeWord(`${'a'.repeat(40_000)}!`, words)).toBeUndefined()
    expect(findWakeWord('really .* here', words)).toBe('.*')
  })
})

describe('wake words in a group', () => {
  const STRANGER = user('999')
  const groups = [
    { match: { chat: '-1' }, who: 'public', trigger: 'mention', wakeWords: ['butler'] },
    { match: { chat: '-2' }, who: 'public', trigger: 'never' },
    { match: {}, who: 'public', trigger: 'mention' },
  ] as const
  const policy = household({ wakeWords: ['parley'], access: { direct: 'owner', groups } })
  const say = (text: string, chat = '-100', more = {}) =>
    decide(policy, message({ sender: STRANGER, address: group(chat), text, ...more }))

  it('S25: count as a mention, and the trace names the word', () => {
    const decision = say('Parley, are you there?')
    expect(decision).toMatchObject({ kind: 'run', reason: 'wake_word', addressed: true })
    expect(decidingStep(decision)).toMatchObject({ because: 'the wake word "parley"', config: 'routing.wakeWords' })
  })

  it('S25: without one the message is stored and not answered', () => {
    expect(verdict(say('anybody there?'))).toBe('context/not_addressed')
  })

  it('of a rule replace those of everywhere', () => {
    const decision = say('butler, tea', '-1')
    expect(verdict(decision)).toBe('run/wake_word')
    expect(decidingStep(decision)).toMatchObject({ config: 'routing.access.groups[0].wakeWords' })
    expect(verdict(say('parley, tea', '-1'))).toBe('context/not_addressed')
  })

  it('wake nobody where the trigger is never', () => {
    expect(verdict(say('parley?', '-2'))).toBe('context/trigger_never')
  })

  it('are answered also where others are mentioned', () => {
    expect(verdict(say('parley, tell @bob', '-100', { mentionsOthers: true }))).toBe('run/wake_word')
  })

  it('are heard whatever invisible characters stand in them, and not in words that somebody else wrote', () => {
    expect(verdict(say('par\u200bl\u00adey\u2060, tea'))).toBe('run/wake_word')
    expect(verdict(say('parley, tea', '-100', { forwarded: {} }))).toBe('context/not_addressed')
    expect(verdict(say('parley, what is that?', '-100', { forwarded: { text: 'tea' } }))).toBe('run/wake_word')
  })

  it('are not heard in the name of somebody or something else that is mentioned', () => {
    const mentions = [{ kind: 'group', name: 'parley' }] as const
    expect(verdict(say('@parley not you', '-100', { mentions, mentionsOthers: true }))).toBe('context/others_mentioned')
    expect(verdict(say('@parley, but parley too', '-100', { mentions, mentionsOthers: true }))).toBe('run/wake_word')
  })

  it('K18: make a rule for mentions match', () => {
    const dispatch = [{ name: 'called', match: { mentioned: true }, agent: 'main' }]
    const decision = decide({ ...policy, dispatch }, message({ sender: STRANGER, text: 'parley!' }))
    expect(decision).toHaveProperty('route.matchedBy', 'dispatch.rule:called')
  })
})
