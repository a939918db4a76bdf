import { describe, expect, it } from 'vitest'
import { GROUP, questioningHousehold as household } from './questioning.ts'
import { setClock } from './set-clock.ts'

describe('a question to whoever is answered', () => {
  it('S7: waits for a press, goes on with the answer, and is closed with who gave it', async () => {
    const { press, heard, asked, daemon } = await household()
    const { buttons, code, at, closed, after, card } = await asked(111, 'ask me')
    expect(buttons).toEqual({ Red: `/answer ${code} 1`, Blue: `/answer ${code} 2`, 'Deep green': `/answer ${code} 3` })
    expect(card).toContain('2. Blue')
    expect(await daemon.operator.sessions.list({ limit: 10, offset: 0, inactive: false })).toMatchObject({
      sessions: [{ status: 'awaiting_approval' }],
    })
    expect(await press(111, at, `/answer ${code} 2`)).toBe('Noted: Blue.')
    expect((await heard(111, 'it says:', after)).text).toContain('Ada chose: Blue')
    const { text, message } = await closed()
    expect(text).toMatch(/Answered by Ada: Blue$/)
    expect(message.reply_markup).toBeUndefined()
    expect(await press(111, at, `/answer ${code} 1`)).toContain('is over')
    expect(await press(111, at, `/answer ${code} 2`)).toBe('Noted: Blue.')
  })

  it('S7: is answered by a command as well, by number, by the words of a choice or in own words', async () => {
    const { say, heard, asked } = await household()
    for (const [words, told] of [
      ['3', 'chose: Deep green'],
      ['blue', 'chose: Blue'],
      ['something lighter', 'answered in their own words: something lighter'],
    ]) {
      const { code, after } = await asked(111, 'ask me')
      await say(111, `/answer ${code} ${words}`, 'Noted')
      expect((await heard(111, 'it says:', after)).text).toContain(told)
    }
  })

  it('S8: goes on after two minutes, and a press within ten begins a turn with the answer in the same place', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const { press, heard, asked, ledger } = await household({ clock })
    const waits = clock.timerOf(120_000, 5_000)
    const { code, at, after } = await asked(444, '@parley_bot ask me', GROUP)
    await waits
    clock.skip(120_000)
    await heard(GROUP, 'it says: Not yet answered', after)
    const late = ledger.mark()
    expect(await press(444, at, `/answer ${code} 1`)).toContain('I go on with it')
    expect((await heard(GROUP, 'heard:', late)).text).toContain('I answer: Red')
    expect(await press(444, at, `/answer ${code} 1`)).toContain('Noted')
    expect(ledger.all((entry) => entry.kind === 'message' && entry.text.includes('I answer: Red'))).toHaveLength(1)
  })

  it('S8: is over ten minutes after it was asked, and says so', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const { press, heard, asked } = await household({ clock })
    const waits = clock.timerOf(120_000, 5_000)
    const { code, at, after, closed } = await asked(111, 'ask me')
    await waits
    clock.skip(121_000)
    await heard(111, 'Not yet answered', after)
    clock.skip(480_000)
    expect((await closed()).text).toContain('Nobody answered in time')
    expect(await press(111, at, `/answer ${code} 1`)).toContain('is over')
  })

  it('S7: holds nobody up: what is said meanwhile ends the wait, and the question stays open', async () => {
    const { say, press, heard, asked, ledger } = await household()
    const { code, at, after } = await asked(111, 'ask me')
    await say(111, 'green then', 'heard: ')
    expect((await heard(111, 'it says:', after)).text).toContain('somebody has written meanwhile')
    const late = ledger.mark()
    await press(111, at, `/answer ${code} 2`)
    expect((await heard(111, 'heard:', late)).text).toContain('I answer: Blue')
  })

  it('F-H07: is answered by nobody else, nor from elsewhere, and each is told so alone', async () => {
    const { world, say, press, heard, asked, ledger } = await household()
    const { code, at, after, card } = await asked(444, '@parley_bot ask me', GROUP)
    expect(card).toContain('For Bob')
    const before = world.messages(GROUP, { by: 'bot' }).length
    expect(await press(111, at, `/answer ${code} 1`)).toBe('That question is not for you.')
    expect(await press(555, at, `/answer ${code} 1`)).toBe('That question is not for you.')
    expect((await say(444, `/answer ${code} 1`, 'asked in another')).text).toContain('answer it there')
    expect((await say(111, `/answer zzzzz 1`, 'asked nothing')).text).toContain('zzzzz')
    expect(await press(444, at, 'ap_7')).toContain('does nothing any more')
    expect(world.messages(GROUP, { by: 'bot' })).toHaveLength(before)
    expect(ledger.all((entry) => entry.kind === 'message' && entry.text.includes('it says'))).toEqual([])
    await press(444, at, `/answer ${code} 1`)
    expect((await heard(GROUP, 'it says:', after)).text).toContain('Bob chose: Red')
  })

  it('F-H07: is for everybody who may talk there if the model says so, never for strangers, and the first counts', async () => {
    const { press, heard, asked } = await household()
    const { code, at, after, card } = await asked(444, '@parley_bot ask everybody', GROUP)
    expect(card).not.toContain('For ')
    expect(await press(555, at, `/answer ${code} 1`)).toBe('That question is not for you.')
    expect(await press(111, at, `/answer ${code} 2`)).toContain('Noted')
    expect((await heard(GROUP, 'it says:', after)).text).toContain('Ada chose: Blue')
    expect(await press(444, at, `/answer ${code} 1`)).toContain('is over')
  })

  it('T32: whoever answers is an author from then on, before the model reads the words', async () => {
    const rules = [{ tools: ['send_message'], who: ['owner'], action: 'allow' }] as const
    const { say, press, heard, asked } = await household({ rules })
    await say(444, 'hello', 'heard')
    await say(111, '@parley_bot post it', 'On its way', GROUP)
    const { code, at, after } = await asked(111, '@parley_bot ask everybody', GROUP)
    await press(444, at, `/answer ${code} 2`)
    await heard(GROUP, 'it says: Bob chose', after)
    expect((await say(111, '@parley_bot post it', 'May I use', GROUP)).text).toContain('words of bob')
  })

  it('S47: is refused in the run of a schedule', async () => {
    const { daemon, heard, ledger } = await household()
    const after = ledger.mark()
    await daemon.operator.schedules.run('paint')
    expect((await heard(111, 'it says:', after)).text).toContain('nobody is there in a run without people')
  })

  it('F-H07: is refused to strangers, who could hold up a conversation', async () => {
    const { say } = await household()
    expect((await say(555, 'ask me', 'it says:')).text).toContain('I ask only people I know')
  })

  it('F-H07: is over when its turn is stopped, and when its conversation begins anew', async () => {
    const { say, press, asked } = await household()
    const { code, at, closed } = await asked(111, 'ask me')
    await say(111, '/stop', 'Stopped')
    expect((await closed()).text).toContain('not wanted any more')
    expect(await press(111, at, `/answer ${code} 1`)).toContain('is over')
  })

  it('F-H07: those that were stopped keep nobody from asking', async () => {
    const { say, asked } = await household()
    for (let nth = 0; nth < 3; nth++) {
      await asked(111, 'ask me')
      await say(111, '/stop', 'Stopped')
    }
    expect((await asked(111, 'ask me')).card).toContain('2. Blue')
  })

  it('F-H07: of one conversation three are open at a time', async () => {
    const { say, asked } = await household()
    for (let nth = 0; nth < 3; nth++) await asked(111, 'ask me')
    expect((await say(111, 'ask me', 'open here already')).text).toContain('3 questions are open here already')
  })

  it('F-H07: those of one person keep nobody else from asking', async () => {
    const { say, asked } = await household()
    for (let nth = 0; nth < 3; nth++) await asked(444, '@parley_bot ask me', GROUP)
    await say(444, '@parley_bot ask me', 'open here already', GROUP)
    expect((await asked(111, '@parley_bot ask me', GROUP)).card).toContain('For Ada')
  })

  it('S8: survives a restart while it waits: asked once, answered once', async () => {
    const home = await household()
    const { code, at, after } = await home.asked(111, 'ask me')
    await home.restart()
    await home.press(111, at, `/answer ${code} 2`)
    expect((await home.heard(111, 'it says:', after)).text).toContain('Ada chose: Blue')
    const cards = home.ledger.all(
      (entry) => entry.kind === 'message' && entry.change === 'sent' && entry.text.includes('Which colour'),
    )
    expect(cards).toHaveLength(1)
  })
})
