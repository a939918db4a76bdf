import { describe, expect, test } from 'vitest'
import { readReminder } from '../../src/schedule/read-reminder.ts'
import { findTime, readInterval } from '../../src/schedule/read-when.ts'
import { readWish } from '../../src/schedule/read-wish.ts'

const BERLIN = 'Europe/Berlin'
/** Tuesday, 10:20 in Berlin. */
const NOW = Date.parse('2026-11-24T09:20:00Z')

const found = async (text: string, timezone = BERLIN, now = NOW) => {
  const time = await findTime(text, { now, timezone })
  return time && [new Date(time.at).toISOString().slice(0, 16), time.rest]
}

describe('a time in words', () => {
  test.each([
    ['at five call mum', '2026-11-24T16:00', 'call mum'],
    ['at 5 call mum', '2026-11-24T16:00', 'call mum'],
    ['at 11 call mum', '2026-11-24T10:00', 'call mum'],
    ['at 05:00 get up', '2026-11-25T04:00', 'get up'],
    ['at 05:00 EST get up', '2026-11-24T10:00', 'get up'],
    ['in 20 min eat', '2026-11-24T09:40', 'eat'],
    ['tomorrow at 9 met office', '2026-11-25T08:00', 'met office'],
    ['5:30 tea', '2026-11-24T16:30', 'tea'],
    ['17:00 tea', '2026-11-24T16:00', 'tea'],
    ['9:00 tea', '2026-11-24T20:00', 'tea'],
    ['9am tea', '2026-11-25T08:00', 'tea'],
    ['me in 20 minutes to stretch', '2026-11-24T09:40', 'stretch'],
    ['20m stretch', '2026-11-24T09:40', 'stretch'],
    ['in 2h30m stretch', '2026-11-24T11:50', 'stretch'],
    ['tomorrow stand up', '2026-11-25T08:00', 'stand up'],
    ['tomorrow morning stand up', '2026-11-25T05:00', 'stand up'],
    ['tomorrow at 5 stand up', '2026-11-25T16:00', 'stand up'],
    ['on friday at 9 to read the May report', '2026-11-27T08:00', 'read the May report'],
    ['call mum at 17:00', '2026-11-24T16:00', 'call mum'],
    ['call mum tomorrow at 9', '2026-11-25T08:00', 'call mum'],
    ['2026-12-01T09:00', '2026-12-01T08:00', ''],
    ['2026-12-01T09:00:00Z', '2026-12-01T09:00', ''],
    ['2026-11-24T09:40:00.000Z', '2026-11-24T09:40', ''],
    ['2026-12-01 09:00 pay', '2026-12-01T08:00', 'pay'],
  ])('%s', async (text, at, rest) => expect(await found(text)).toEqual([at, rest]))

  test('none, or one in the middle of what shall be said, is not guessed', async () => {
    expect(await found('call mum')).toBeUndefined()
    expect(await found('buy milk on friday for the cake')).toBeUndefined()
    expect(await found('')).toBeUndefined()
  })

  test('is read in the zone, whose clocks may change in between', async () => {
    expect(await found('tomorrow at 9 x', 'America/New_York')).toEqual(['2026-11-25T14:00', 'x'])
    // Clocks are set back on Sunday, 25 October 2026.
    const before = Date.parse('2026-10-24T10:00:00Z')
    expect(await found('tomorrow at 9 x', BERLIN, before)).toEqual(['2026-10-25T08:00', 'x'])
    expect(await found('in 24 hours x', BERLIN, before)).toEqual(['2026-10-25T10:00', 'x'])
  })
})

test('an interval', () => {
  expect(['30m', '2h', '1d', '1h30m', '90 minutes', 'hour'].map(readInterval)).toEqual(
    [30, 120, 1440, 90, 90, 60].map((minutes) => minutes * 60_000),
  )
  for (const text of ['', 'soon', '5', '0m', '2h x']) expect(() => readInterval(text)).toThrow(/is no interval/)
})

describe('a typed reminder', () => {
  const read = (text: string) => readReminder(text, NOW, BERLIN)
  test.each([
    ['every 2h drink', { every: '2h', text: 'drink' }],
    ['me every 30 minutes to stretch', { every: '30 minutes', text: 'stretch' }],
    ['every hour drink', { every: 'hour', text: 'drink' }],
    ['every day at 8 take the pill', { cron: '0 8 * * *', text: 'take the pill' }],
    ['every day take the pill', { cron: '0 9 * * *', text: 'take the pill' }],
    ['every weekday at 17:30 go home', { cron: '30 17 * * 1-5', text: 'go home' }],
    ['every Monday 9am bins', { cron: '0 9 * * 1', text: 'bins' }],
    ['every sunday call mum at 18:00', { cron: '0 18 * * 0', text: 'call mum' }],
    ['20m tea', { at: '2026-11-24T09:40:00.000Z', text: 'tea' }],
  ])('%s', async (typed, wish) => expect(await read(typed)).toEqual({ ...wish, task: false }))

  test('without a time is none', async () => expect(await read('call mum')).toBeUndefined())
})

describe('a wish', () => {
  const wish = (more: object) => readWish({ text: 'x', task: false, ...more }, { at: NOW, home: BERLIN })
  test.each([
    [{}, 'exactly one'],
    [{ at: 'tomorrow', every: '1h' }, 'exactly one'],
    [{ at: 'yesterday at 9' }, 'is over'],
    [{ at: 'when pigs fly' }, 'is no time'],
    [{ at: '2040-01-01T00:00' }, 'more than five years'],
    [{ every: '1m' }, 'too often'],
    [{ cron: '* * * * *' }, 'too often'],
    [{ cron: '0,2 8 * * *' }, 'too often'],
    [{ cron: 'whenever' }, 'write five fields'],
    [{ at: 'tomorrow', timezone: 'Mars/Base' }, 'there is no time zone Mars/Base'],
    [{ at: 'tomorrow', text: ' ' }, 'There is no text'],
    [{ at: 'tomorrow', text: 'x'.repeat(2_001) }, 'longer than 2000'],
  ])('%j is refused with the reason', async (more, reason) => {
    await expect(wish(more)).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining(reason) })
  })
})

describe('a time in a long text', () => {
  const story = Array.from({ length: 300 }, (_, at) => `word${at}`)
    .join(' ')
    .slice(0, 1_900)

  test('at its beginning or its end is found, and no word of the text is lost', async () => {
    expect(await found(`at 17:00 ${story}`)).toEqual(['2026-11-24T16:00', story])
    expect(await found(`${story} tomorrow at 9`)).toEqual(['2026-11-25T08:00', story])
  })

  test('beyond the first and last 200 characters is none: nothing there is looked at', async () => {
    expect(await found(`${'word '.repeat(60)}at 17:00 ${'word '.repeat(60)}`)).toBeUndefined()
  })

  test.each([
    ['a reminder', () => readReminder('1h '.repeat(13_000), NOW, BERLIN)],
    ['a time', () => findTime('1h '.repeat(13_000), { now: NOW, timezone: BERLIN })],
    ['an interval', async () => readInterval('1h '.repeat(13_000))],
    ['words without a time', () => readReminder(`every ${'1h '.repeat(13_000)}`, NOW, BERLIN)],
  ])('%s of 39,000 characters: refused in a few words before it is looked at', async (_title, read) => {
    await expect(read()).rejects.toMatchObject({
      ...{ code: 'invalid', message: 'The text is longer than 2000 characters; make it shorter.' },
    })
  })
})
