import { describe, expect, it } from 'vitest'
import { twoBots } from './two-bots.ts'

describe('two bots of one daemon in one group', () => {
  it('F-D11: each answers once whoever addresses it, in a session of its own, and neither answers the other', async () => {
    const { world, chat, ask, aside, sentBy, home, prompts, SAGE } = await twoBots()
    await ask('parley', '@parley_bot hello')
    await ask('sage', '@sage_bot good day')
    const both = await ask('parley', '@parley_bot @sage_bot who is there?')
    expect(both.answer).toContain('who is there?')
    await expect.poll(() => sentBy('sage').length).toBe(2)
    // A platform may show bots what other bots say.
    world.say({ from: SAGE, chat, text: '@parley_bot say canarybot' })
    await aside('so it is')
    await ask('parley', '@parley_bot and?')
    expect(sentBy('parley')).toHaveLength(3)
    expect(sentBy('sage')).toHaveLength(2)
    expect(prompts().join()).toMatch(/\[app: [^\n]*canarybot/)
    const { sessions } = await home.daemon.operator.sessions.list({ limit: 20, offset: 0, inactive: true })
    expect(sessions.map(({ key }) => key).sort()).toEqual([`telegram:group:${chat}`, `telegram@sage:group:${chat}`])
  })

  it('T32: what one bot has said is nobody’s where a person replies to it for the other', async () => {
    const { ask, prompts, rows } = await twoBots()
    const { answerId } = await ask('parley', '@parley_bot canarybot')
    await ask('sage', '@sage_bot what of this?', { replyTo: answerId })
    expect(prompts().at(-1)).toContain('canarybot')
    expect(rows("SELECT author FROM authors WHERE author = 'nobody'")).not.toBe('[]')
  })

  it('a mute, an undone exchange and a fresh start are those of the bot that is asked', async () => {
    const { ask, prompts, sentBy, aside } = await twoBots()
    await ask('parley', '@parley_bot first of parley')
    await ask('sage', '@sage_bot first of sage')
    expect((await ask('sage', '/undo@sage_bot')).answer).toContain('Taken back')
    await ask('parley', '@parley_bot second')
    expect(prompts().at(-1)).toMatch(/heard: [^"]*first of parley/)
    await ask('sage', '@sage_bot second')
    expect(prompts().at(-1)).not.toMatch(/heard: [^"]*first of sage/)
    await ask('sage', '/mute@sage_bot 2h')
    await ask('parley', '@parley_bot third')
    const before = sentBy('sage').length
    await aside('@sage_bot are you there?', 444)
    await ask('parley', '@parley_bot fourth', { from: 444 })
    expect(sentBy('sage')).toHaveLength(before)
    await ask('parley', '/new@parley_bot')
    await ask('parley', '@parley_bot fifth')
    expect(prompts().at(-1)).not.toContain('fourth')
    expect((await ask('sage', '/mute@sage_bot off')).answer).not.toBe('')
    await ask('sage', '@sage_bot sixth')
    expect(prompts().at(-1)).toContain('fourth')
  })
})
