import { describe, expect, test } from 'vitest'
import type { Timing } from '../../../src/core/schedule.ts'
import { wallTimeAt } from '../../../src/core/wall-time.ts'
import { readEnd, readTiming, readTyped } from '../../../src/schedule/when/read-when.ts'
import { WORDS } from '../../../src/schedule/when/time-words.ts'

const BERLIN = 'Europe/Berlin'
/** Wednesday, 14:00 in Berlin. */
const NOW = Date.parse('2026-12-02T13:00:00Z')

/** Writes a timing as its table does: the wall time of its zone, an expression, or a distance and where it begins. */
function written(timing: Timing): string {
  const wall = (at: number) => new Date(wallTimeAt(timing.timezone, at)).toISOString().slice(0, 16)
  const zone = timing.timezone === BERLIN ? '' : ` ${timing.timezone}`
  if ('at' in timing) return wall(timing.at) + zone
  const until = timing.until === undefined ? '' : ` until ${wall(timing.until)}`
  if ('every' in timing) return `${timing.every / 3_600_000}h from ${wall(timing.from)}${until}${zone}`
  return `${timing.cron}${timing.from === undefined ? '' : ` from ${wall(timing.from)}`}${until}${zone}`
}

const read = (text: string, timezone = BERLIN, now = NOW) => {
  const found = readTyped(text, { now, timezone })
  return found && [written(found.timing), found.text]
}

function question(text: string): string {
  try {
    return `read: ${JSON.stringify(read(text))}`
  } catch (error) {
    return String(error)
  }
}

describe('a time for once', () => {
  test.each([
    ['at noon lunch', '2026-12-03T12:00', 'lunch'],
    ['at midnight lock up', '2026-12-03T00:00', 'lock up'],
    ['at 12 lunch', '2026-12-03T12:00', 'lunch'],
    ['at five call mum', '2026-12-02T17:00', 'call mum'],
    ['at 5 call mum', '2026-12-02T17:00', 'call mum'],
    ['at 11 call mum', '2026-12-02T23:00', 'call mum'],
    ['at 05:00 get up', '2026-12-03T05:00', 'get up'],
    ['5:30 tea', '2026-12-02T17:30', 'tea'],
    ['17:00 tea', '2026-12-02T17:00', 'tea'],
    ['9:00 tea', '2026-12-02T21:00', 'tea'],
    ['9am tea', '2026-12-03T09:00', 'tea'],
    ['9:15 p.m. tea', '2026-12-02T21:15', 'tea'],
    ['at 1730 leave', '2026-12-02T17:30', 'leave'],
    ['at half past eight dinner', '2026-12-02T20:30', 'dinner'],
    ['at quarter to nine leave', '2026-12-02T20:45', 'leave'],
    ['at nine thirty leave', '2026-12-02T21:30', 'leave'],
    ['at ten past nine leave', '2026-12-02T21:10', 'leave'],
    ['8 in the evening film', '2026-12-02T20:00', 'film'],
    ['by 5pm send the report', '2026-12-02T17:00', 'send the report'],
    ['tonight at 9 film', '2026-12-02T21:00', 'film'],
    ['tonight film', '2026-12-02T21:00', 'film'],
    ['this evening at 7 film', '2026-12-02T19:00', 'film'],
    ['in the evening walk the dog', '2026-12-02T19:00', 'walk the dog'],
    ['today at 9 stretch', '2026-12-02T21:00', 'stretch'],
    ['tomorrow stand up', '2026-12-03T09:00', 'stand up'],
    ['tomorrow morning stand up', '2026-12-03T09:00', 'stand up'],
    ['tomorrow evening call dad', '2026-12-03T19:00', 'call dad'],
    ['tomorrow at 5 stand up', '2026-12-03T17:00', 'stand up'],
    ['tommorow at 9 stand up', '2026-12-03T09:00', 'stand up'],
    ['the day after tomorrow at 8 pack', '2026-12-04T08:00', 'pack'],
    ['friday at 9 report', '2026-12-04T09:00', 'report'],
    ['this friday at 9 report', '2026-12-04T09:00', 'report'],
    ['next friday at 9 report', '2026-12-11T09:00', 'report'],
    ['next monday at 9 report', '2026-12-07T09:00', 'report'],
    ['friday next week at 9 report', '2026-12-11T09:00', 'report'],
    ['wednesday at 3pm report', '2026-12-02T15:00', 'report'],
    ['wednesday at 9am report', '2026-12-09T09:00', 'report'],
    ['sat 9am run', '2026-12-05T09:00', 'run'],
    ['on sunday sun cream', '2026-12-06T09:00', 'sun cream'],
    ['a week from monday at 9 pay', '2026-12-14T09:00', 'pay'],
    ['on the 5th at 9 rent', '2026-12-05T09:00', 'rent'],
    ['on the 1st rent', '2027-01-01T09:00', 'rent'],
    ['5 december at 18:00 party', '2026-12-05T18:00', 'party'],
    ['Dec 24, 2026 at 5pm sing', '2026-12-24T17:00', 'sing'],
    ['24th of january party', '2027-01-24T09:00', 'party'],
    ['29 february leap', '2028-02-29T09:00', 'leap'],
    ['13/12 at 9 pay', '2026-12-13T09:00', 'pay'],
    ['2026-12-05 09:00 pay', '2026-12-05T09:00', 'pay'],
    ['2026-12-05T09:00 pay', '2026-12-05T09:00', 'pay'],
    ['2026-12-05T09:00:00Z pay', '2026-12-05T10:00', 'pay'],
    ['20m stretch', '2026-12-02T14:20', 'stretch'],
    ['2h stretch', '2026-12-02T16:00', 'stretch'],
    ['in 2h30m stretch', '2026-12-02T16:30', 'stretch'],
    ['me in 20 minutes to stretch', '2026-12-02T14:20', 'stretch'],
    ['remind me in an hour and a half to stretch', '2026-12-02T15:30', 'stretch'],
    ['in half an hour tea', '2026-12-02T14:30', 'tea'],
    ['in 1.5 hours tea', '2026-12-02T15:30', 'tea'],
    ['an hour from now tea', '2026-12-02T15:00', 'tea'],
    ['in 3 days at 9 pay', '2026-12-05T09:00', 'pay'],
    ['in a fortnight pay', '2026-12-16T14:00', 'pay'],
    ['in 3 months dentist', '2027-03-02T14:00', 'dentist'],
  ])('%s', (typed, at, text) => expect(read(typed)).toEqual([at, text]))

  test.each([
    ['call mum at 17:00', '2026-12-02T17:00', 'call mum'],
    ['call mum tomorrow at 9', '2026-12-03T09:00', 'call mum'],
    ['to call mum at noon', '2026-12-03T12:00', 'call mum'],
    ['send the report by friday 5pm', '2026-12-04T17:00', 'send the report'],
    ['tomorrow call mum at 5', '2026-12-03T17:00', 'call mum'],
    ['at 8 2 pills', '2026-12-02T20:00', '2 pills'],
    ['call may on friday at 5', '2026-12-04T17:00', 'call may'],
    ['walk 20 minutes at 5', '2026-12-02T17:00', 'walk 20 minutes'],
    ['read chapter 5 at 9', '2026-12-02T21:00', 'read chapter 5'],
    ['in 5 minutes 3 eggs', '2026-12-02T14:05', '3 eggs'],
    ['in 20 min do laundry', '2026-12-02T14:20', 'do laundry'],
    ['in 20 min eat', '2026-12-02T14:20', 'eat'],
    ['tomorrow at 9 met office', '2026-12-03T09:00', 'met office'],
    ['on friday at 9 to read the May report', '2026-12-04T09:00', 'read the May report'],
  ])('%s: the words around it are the text', (typed, at, text) => expect(read(typed)).toEqual([at, text]))

  test.each([
    'call mum',
    'the talk about monday',
    'return books 3 jan 27',
    'buy milk on friday for the cake',
    'tickets for friday',
    'boil eggs for 8 minutes',
    '',
  ])('%s: none, or one in the middle, is not guessed', (typed) => expect(read(typed)).toBeUndefined())
})

describe('a time again and again', () => {
  test.each([
    ['every 2h drink', '2h from 2026-12-02T16:00', 'drink'],
    ['me every 30 minutes to stretch', '0.5h from 2026-12-02T14:30', 'stretch'],
    ['every half hour stretch', '0.5h from 2026-12-02T14:30', 'stretch'],
    ['every 1.5 hours stretch', '1.5h from 2026-12-02T15:30', 'stretch'],
    ['hourly drink', '1h from 2026-12-02T15:00', 'drink'],
    ['every 2 hours from 9 to 17 drink', '0 9-17/2 * * *', 'drink'],
    ['every hour between 9am and 5pm on weekdays drink', '0 9-17 * * 1-5', 'drink'],
    ['every 14 days at 9:00 check drops', '336h from 2026-12-03T09:00', 'check drops'],
    ['every 14 days check drops', '336h from 2026-12-16T14:00', 'check drops'],
    ['every 1d check drops', '24h from 2026-12-03T14:00', 'check drops'],
    ['every day at 8 take the pill', '0 8 * * *', 'take the pill'],
    ['every day take the pill', '0 9 * * *', 'take the pill'],
    ['every day take the pill at 8', '0 8 * * *', 'take the pill'],
    ['at 8 take the pill every day', '0 8 * * *', 'take the pill'],
    ['daily at 8 take the pill', '0 8 * * *', 'take the pill'],
    ['every day at 8, 12 and 18 take the pill', '0 8,12,18 * * *', 'take the pill'],
    ['every morning meditate', '0 9 * * *', 'meditate'],
    ['every evening at 8 water', '0 20 * * *', 'water'],
    ['every weekday at 17:30 go home', '30 17 * * 1-5', 'go home'],
    ['weekdays at 7 get up', '0 7 * * 1-5', 'get up'],
    ['every weekend at 10 sleep in', '0 10 * * 0,6', 'sleep in'],
    ['mon-fri at 7 get up', '0 7 * * 1-5', 'get up'],
    ['monday through thursday at 7 get up', '0 7 * * 1,2,3,4', 'get up'],
    ['every day at 9 except sunday open', '0 9 * * 1,2,3,4,5,6', 'open'],
    ['every monday and thursday at 8 bins', '0 8 * * 1,4', 'bins'],
    ['every tue/thu 6pm gym', '0 18 * * 2,4', 'gym'],
    ['every day but sunday at 9 open', '0 9 * * 1,2,3,4,5,6', 'open'],
    ['once a week on friday at 5pm report', '0 17 * * 5', 'report'],
    ['twice a day at 8 and 20 pill', '0 8,20 * * *', 'pill'],
    ['deux fois par jour à 8h et 20h pilule', '0 8,20 * * *', 'pilule'],
    ['every mon, wed and fri at 7:15 run', '15 7 * * 1,3,5', 'run'],
    ['mondays and thursdays at 8 bins', '0 8 * * 1,4', 'bins'],
    ['every Monday 9am bins', '0 9 * * 1', 'bins'],
    ['every monday morning yoga', '0 9 * * 1', 'yoga'],
    ['call mum every sunday at 10', '0 10 * * 0', 'call mum'],
    ['every sunday call mum at 18:00', '0 18 * * 0', 'call mum'],
    ['every other tuesday at 8 bins', '336h from 2026-12-08T08:00', 'bins'],
    ['every 2 weeks on friday at 16 report', '336h from 2026-12-04T16:00', 'report'],
    ['weekly on friday at 16 report', '0 16 * * 5', 'report'],
    ['every first monday of the month at 9 rent', '0 9 * * 1#1', 'rent'],
    ['the last friday of every month at 17 drinks', '0 17 * * 5L', 'drinks'],
    ['every second tuesday of the month bins', '0 9 * * 2#2', 'bins'],
    ['on the 15th of every month at 9 pay', '0 9 15 * *', 'pay'],
    ['every month on the 1st pay', '0 9 1 * *', 'pay'],
    ['every 1st and 15th at 9 pay', '0 9 1,15 * *', 'pay'],
    ['on the last day of every month pay', '0 9 L * *', 'pay'],
    ['every 3 months on the 1st at 9 filter', '0 9 1 1,4,7,10 *', 'filter'],
    ['every year on 24 december at 18:00 sing', '0 18 24 12 *', 'sing'],
    ['every 24 december sing', '0 9 24 12 *', 'sing'],
    ['every day at 8 until friday pill', '0 8 * * * until 2026-12-04T23:59', 'pill'],
    ['every 2h drink until tomorrow 18:00', '2h from 2026-12-02T16:00 until 2026-12-03T18:00', 'drink'],
    ['every day at 8 for 10 days pill', '0 8 * * * until 2026-12-12T14:00', 'pill'],
    ['every day at 8 3 times pill', '0 8 * * * until 2026-12-05T08:00', 'pill'],
    ['every day at 9 starting monday journal', '0 9 * * * from 2026-12-07T00:00', 'journal'],
  ])('%s', (typed, times, text) => expect(read(typed)).toEqual([times, text]))
})

describe('a time in a zone', () => {
  test.each([
    ['at 05:00 EST get up', '2026-12-03T05:00 America/New_York'],
    ['tomorrow at 9am PST standup', '2026-12-03T09:00 America/Los_Angeles'],
    ['tomorrow at 9 utc standup', '2026-12-03T09:00 UTC'],
    ['tomorrow at 9 UTC+2 standup', '2026-12-03T09:00 Etc/GMT-2'],
    ['tomorrow at 9 new york time standup', '2026-12-03T09:00 America/New_York'],
    ['every monday at 9 Asia/Tokyo standup', '0 9 * * 1 Asia/Tokyo'],
  ])('%s', (typed, times) => expect(read(typed)?.[0]).toBe(times))

  test('is that of whoever types otherwise, whose clocks may change in between', () => {
    expect(read('tomorrow at 9 x', 'America/New_York')?.[0]).toBe('2026-12-03T09:00 America/New_York')
    // Clocks are set back on Sunday, 25 October 2026, and forward on 28 March 2027.
    const autumn = Date.parse('2026-10-24T10:00:00Z')
    expect(read('tomorrow at 9 x', BERLIN, autumn)?.[0]).toBe('2026-10-25T09:00')
    expect(read('in 24 hours x', BERLIN, autumn)?.[0]).toBe('2026-10-25T11:00')
    expect(read('in 1 day x', BERLIN, autumn)?.[0]).toBe('2026-10-25T12:00')
    const spring = Date.parse('2027-03-27T12:00:00Z')
    expect(read('tomorrow at 02:30 x', BERLIN, spring)?.[0]).toBe('2027-03-28T03:30')
  })
})

describe('a time in another language', () => {
  test.each([
    ['um halb neun aufstehen', '2026-12-02T20:30', 'aufstehen'],
    ['um viertel vor neun los', '2026-12-02T20:45', 'los'],
    ['morgen um 9 Mama anrufen', '2026-12-03T09:00', 'Mama anrufen'],
    ['morgen früh um 7 laufen', '2026-12-03T07:00', 'laufen'],
    ['übermorgen um 14 Uhr Termin', '2026-12-04T14:00', 'Termin'],
    ['in anderthalb Stunden Tee', '2026-12-02T15:30', 'Tee'],
    ['nächsten Freitag um 8 Bericht', '2026-12-11T08:00', 'Bericht'],
    ['heute Abend um 8 Film', '2026-12-02T20:00', 'Film'],
    ['am 5. Dezember um 9 Miete', '2026-12-05T09:00', 'Miete'],
    ['5.12. um 8:30 Miete', '2026-12-05T08:30', 'Miete'],
    ['um 14 Uhr 30 Termin', '2026-12-02T14:30', 'Termin'],
    ['um 12 Mittag essen', '2026-12-03T12:00', 'Mittag essen'],
    ['Sonntagabend um 8 Tatort', '2026-12-06T20:00', 'Tatort'],
    ['in 20 min hier sein', '2026-12-02T14:20', 'hier sein'],
    ['in 20 min am Bahnhof sein', '2026-12-02T14:20', 'am Bahnhof sein'],
    ['jeden Montag und Donnerstag um 8 Müll', '0 8 * * 1,4', 'Müll'],
    ['Mo-Fr um 7 aufstehen', '0 7 * * 1-5', 'aufstehen'],
    ['alle 14 Tage um 9 Tropfen', '336h from 2026-12-03T09:00', 'Tropfen'],
    ['jeden zweiten Dienstag um 8 Müll', '336h from 2026-12-08T08:00', 'Müll'],
    ['jeden Tag um 8 bis 5. Januar Tablette', '0 8 * * * until 2027-01-05T23:59', 'Tablette'],
    ['jeden Morgen um 7 laufen', '0 7 * * *', 'laufen'],
    ['demain à 9h appeler maman', '2026-12-03T09:00', 'appeler maman'],
    ['après-demain à 14h30 rendez-vous', '2026-12-04T14:30', 'rendez-vous'],
    ['dans une heure et demie thé', '2026-12-02T15:30', 'thé'],
    ['vendredi prochain à 8h rapport', '2026-12-11T08:00', 'rapport'],
    ['ce soir à 20h film', '2026-12-02T20:00', 'film'],
    ['le 5/12 à 9h loyer', '2026-12-05T09:00', 'loyer'],
    ['à midi manger', '2026-12-03T12:00', 'manger'],
    ['à neuf heures moins le quart partir', '2026-12-02T20:45', 'partir'],
    ['tous les lundis et jeudis à 8h poubelles', '0 8 * * 1,4', 'poubelles'],
    ['du lundi au vendredi à 7h réveil', '0 7 * * 1-5', 'réveil'],
    ["tous les jours à 8h jusqu'à vendredi pilule", '0 8 * * * until 2026-12-04T23:59', 'pilule'],
    ['appeler maman demain à 9h', '2026-12-03T09:00', 'appeler maman'],
    ['mañana por la mañana correr', '2026-12-03T09:00', 'correr'],
    ['pasado mañana a las 14:30 cita', '2026-12-04T14:30', 'cita'],
    ['dentro de 20 minutos té', '2026-12-02T14:20', 'té'],
    ['el lunes que viene a las 9 cita', '2026-12-07T09:00', 'cita'],
    ['a las ocho y media cenar', '2026-12-02T20:30', 'cenar'],
    ['a las nueve menos cuarto salir', '2026-12-02T20:45', 'salir'],
    ['hoy a las 20h cenar', '2026-12-02T20:00', 'cenar'],
    ['cada lunes y jueves a las 8 basura', '0 8 * * 1,4', 'basura'],
    ['de lunes a viernes a las 7 despertar', '0 7 * * 1-5', 'despertar'],
    ['todos los días a las 8 hasta el viernes pastilla', '0 8 * * * until 2026-12-04T23:59', 'pastilla'],
  ])('%s', (typed, times, text) => expect(read(typed)).toEqual([times, text]))
})

describe('a time without one meaning is asked back', () => {
  test.each([
    ['12/5 pay', '5 december'],
    ['next week pay', 'On which day of the next week?'],
    ['friday at midnight pay', 'Midnight between which days?'],
    ['monday and thursday at 8 bins', 'Once on each of these days'],
    ['every second tuesday bins', 'every other monday'],
    ['biweekly sync', 'twice a week'],
    ['every day at 8:30 and 20:00 pill', 'different minutes'],
    ['every month pay', 'On which day of the month?'],
    ['every 5 months on the 1st pay', 'divide a year'],
    ['on the 5th of the month pay', 'each month?'],
    ['three times a day pill', 'At which hours?'],
    ['next weekend clean', 'On which day?'],
    ['every 0 days clean', 'more than nothing'],
    ['every 2 hours at 9 drink', 'every 2 hours from 9 to 17'],
    ['at 9 call mum tomorrow', 'Does the day at the end'],
    ['tomorrow 2 eggs', 'Is "2" the hour?'],
    ['at 8 and at 20:00 pill', 'several times'],
    ['in 2 hours every day drink', 'again and again'],
    ['every blue monday', 'I did not understand "every blue"'],
    ['31 february 2027 pay', 'a day that exists'],
    ['every day at 8 until yesterday pill', 'ends before it begins'],
    ['tomorrow at 9 ist standup', 'Asia/Kolkata'],
    ['every day at 2:30 look at the backup', '`2:30am` or `2:30pm`'],
    ['every other day at 6 gym', '`6:00am` or `6:00pm`'],
  ])('%s', (typed, words) => expect(question(typed)).toContain(words))

  test.each([
    'tomorrow at 9 and on friday call mum',
    'every monday at 8 at 9 bins',
    'tomorrow morgen um 9 anrufen',
    'at 9 demain appeler',
    'at 8 and 20 pill',
  ])('%s: a part of it would be left in the text', (typed) => expect(question(typed)).toContain('I did not understand'))
})

describe('appointments and habits as people write them', () => {
  test.each([
    ['dentist on tuesday the 8th of december at 10', '2026-12-08T10:00', 'dentist'],
    ['team lunch friday 11th at 1pm', '2026-12-11T13:00', 'team lunch'],
    ['nativity play - fri 18 dec @ 2pm', '2026-12-18T14:00', 'nativity play'],
    ['Zahnarzt, Mo 14.12., 14:30 Uhr', '2026-12-14T14:30', 'Zahnarzt'],
    ['Zahnarzt am Montag, den 14. Dezember um 14:30 Uhr', '2026-12-14T14:30', 'Zahnarzt'],
    ['piscine le lundi 7 à 9h', '2026-12-07T09:00', 'piscine'],
    ['dentista el lunes 14 de diciembre a las 14:30', '2026-12-14T14:30', 'dentista'],
    ['dentista 14-12-2026 14:30', '2026-12-14T14:30', 'dentista'],
    ['taxi mañana a las 4 pm', '2026-12-03T16:00', 'taxi'],
    ['a las 4 p. m. taxi', '2026-12-02T16:00', 'taxi'],
    ['todos los días a las 6 am correr', '0 6 * * *', 'correr'],
    ['30 min run tomorrow at 7', '2026-12-03T07:00', '30 min run'],
    ['2h study every day at 5pm', '0 17 * * *', '2h study'],
    ['17h losfahren', '2026-12-02T17:00', 'losfahren'],
    ['à 20 h taxi', '2026-12-02T20:00', 'taxi'],
    ['hoy 15:30hs llamar a mamá', '2026-12-02T15:30', 'llamar a mamá'],
    ['heute 15.30 Mama anrufen', '2026-12-02T15:30', 'Mama anrufen'],
    ['demain soir à 8h appeler maman', '2026-12-03T20:00', 'appeler maman'],
    ['pilule chaque soir à 9h', '0 21 * * *', 'pilule'],
    ['um 7 Uhr abends Hund', '2026-12-02T19:00', 'Hund'],
    ['a la una de la madrugada cerrar', '2026-12-03T01:00', 'cerrar'],
    ['cita a las seis menos diez', '2026-12-02T17:50', 'cita'],
    ['um fünf vor halb acht losfahren', '2026-12-02T19:25', 'losfahren'],
    ['Restmüll 14-tägig am Mittwoch', '336h from 2026-12-09T09:00', 'Restmüll'],
    ['every 14 days on thursday at 7pm bins', '336h from 2026-12-03T19:00', 'bins'],
    ['things to do 17:00', '2026-12-02T17:00', 'things to do'],
    ['read the Sun, 5pm', '2026-12-02T17:00', 'read the Sun'],
    ['ver La 1 a las 22:00', '2026-12-02T22:00', 'ver La 1'],
    ['gym sat 9am', '2026-12-05T09:00', 'gym'],
  ])('%s', (typed, times, text) => expect(read(typed)).toEqual([times, text]))

  test.each([
    ['dentist friday 8 december at 10', 'Tuesday 8 December 2026'],
    ['rent on the 5th and 20th at 9am', '"on the 5th and 20th"'],
    ['call mum at 9 30 tomorrow', '"at 9 30"'],
    ['Mama um 8 anrufen morgen', '"um 8"'],
    ['shift tomorrow from 9am to 5pm', '"tomorrow from 9am to"'],
    ['gym mon wed fri 6am', '"mon wed"'],
    ['nye drinks 31st 9pm', '"31st"'],
    ['basura orgánica mar y vie 21h', 'understand'],
    ['jeudi dernier colis', '"dernier colis"'],
    ['lire les chapitres 5 à 8 dimanche', '"5 à 8"'],
    ['take one a day at 9', '"a day"'],
    ['Friday prayer every friday at 1:15pm', 'two times'],
    ['tomorrow or friday pay', '"or friday"'],
    ['2 weeks before christmas buy presents', '"before christmas"'],
    ['every day in december at 7 sing', '"in december at 7"'],
    ['every monday at 7pm bins until the end of january', '"until the"'],
    ['jeden Tag bis Weihnachten um 7 singen', '"bis Weihnachten"'],
    ['market every saturday from 8 to 12', 'At which hour?'],
    ['pilates twice a week', 'On which days?'],
    ['every 2 days on monday at 9 x', 'or on these days?'],
    ['on the weekend call gran', 'Once on each of these days'],
    ['call Sam 17:00', 'Is "Sam" a day?'],
    ['2h30 stretch', 'how long from now on?'],
    ['every day at 9 101 times x', 'between once and 100 times'],
    ['every 29 february 50 times x', 'more than 20 years'],
  ])('%s is asked back', (typed, words) => expect(question(typed)).toContain(words))

  test('a first day before the clocks change is counted by the calendar', () => {
    const spring = Date.parse('2027-03-27T11:00:00Z')
    expect(read('every 14 days at 9:00 drops', BERLIN, spring)?.[0]).toBe('336h from 2027-03-28T09:00')
  })

  test.each([
    ['call mum (urgent) tomorrow at 8', 'call mum (urgent)'],
    ['tomorrow at 8 (urgent) call', '(urgent) call'],
    ['tomorrow at 8 to-do list', 'to-do list'],
    ['Me and Tom tomorrow at 8', 'Me and Tom'],
    ['tomorrow at 8 To Kill a Mockingbird', 'To Kill a Mockingbird'],
    ['tomorrow at 8 --force deploy', '--force deploy'],
    ['tomorrow at 8 -5 degrees', '-5 degrees'],
    ['tomorrow at 8 buy:\n- milk\n- eggs', 'buy:\n- milk\n- eggs'],
    ['wake up! tomorrow at 8', 'wake up!'],
    ['call mum \u2014 8am tomorrow', 'call mum'],
    ['tea in 5 minutes \u{1f375}', 'tea \u{1f375}'],
    ['\u23f0 7am gym', '\u23f0 gym'],
    ['call mum tomorrow at 8, please', 'call mum'],
    ['pls remind me tomorrow at 8 that mum calls', 'mum calls'],
    ['erinnere mich morgen um 8 an Tabletten', 'Tabletten'],
    ['recuérdame mañana a las 8 pastilla', 'pastilla'],
    ['tomorrow at 8 constructor review', 'constructor review'],
  ])('%s keeps its text', (typed, text) => expect(read(typed)?.[1]).toBe(text))

  test('an address longer than what is looked at stays whole', () => {
    const address = `https://example.com/${'a'.repeat(600)}`
    expect(read(`tomorrow at 8 ${address}`)).toEqual(['2026-12-03T08:00', address])
    expect(read(`${address} tomorrow at 8`)).toEqual(['2026-12-03T08:00', address])
  })

  test('distances beyond all dates are none', () => {
    for (const words of ['in', 'every', 'every day for']) {
      const far = `${words} ${'999999w999999w999999w999999w999999w '.repeat(3)}x`
      expect(question(far)).not.toMatch(/RangeError/)
    }
  })
})

test('no phrase of a language stands under two meanings', () => {
  for (const [language, words] of Object.entries(WORDS)) {
    const phrases = Object.entries(words).flatMap(([kind, text]) =>
      text
        .split(/short|each|month|number|ordinal/.test(kind) && !/ /.test(kind) ? /[|/]/ : ',')
        .map((one) => one.trim()),
    )
    const twice = phrases.filter((phrase, at) => phrase !== '' && phrases.indexOf(phrase) !== at)
    expect([language, twice]).toEqual([language, []])
  }
})

test('a whole text is a time, or none', () => {
  const whole = (text: string) => written(readTiming(text, { now: NOW, timezone: BERLIN }))
  expect(whole('2026-12-05T09:00')).toBe('2026-12-05T09:00')
  expect(whole('tomorrow at 9')).toBe('2026-12-03T09:00')
  expect(whole('every monday at 8')).toBe('0 8 * * 1')
  for (const text of ['when pigs fly', 'tomorrow at 9 call mum', '', '5']) {
    expect(() => whole(text)).toThrow(/is no time; write one such as/)
  }
})

test('an end in words and in other languages', () => {
  const end = (text: string) => written(readEnd(text, { now: NOW, timezone: BERLIN })).slice(8)
  expect(['an hour', 'for an hour and a half', 'eine halbe Stunde', 'una semana'].map(end)).toEqual([
    ...['02T15:00', '02T15:30', '02T14:30', '09T14:00'],
  ])
  expect(["jusqu'à 18h", 'bis 17:30h', 'hasta las 5', 'til 5', '17h', 'today'].map(end)).toEqual([
    ...['02T18:00', '02T17:30', '02T17:00', '02T17:00', '02T17:00', '02T23:59'],
  ])
})

test('an end is a distance, or a moment', () => {
  const end = (text: string) => written(readEnd(text, { now: NOW, timezone: BERLIN }))
  expect(['2h', 'for 2 hours', '90 minutes', '1h 30m', '1w', 'until monday at 9', 'until 5 december'].map(end)).toEqual(
    ['02T16:00', '02T16:00', '02T15:30', '02T15:30', '09T14:00', '07T09:00', '05T09:00'].map((one) => `2026-12-${one}`),
  )
  expect(['bis morgen um 9', 'pendant 2 heures', 'hasta las 18:00'].map(end)).toEqual(
    ['03T09:00', '02T16:00', '02T18:00'].map((one) => `2026-12-${one}`),
  )
  for (const text of ['soon', '', '2', 'every day at 8']) expect(() => end(text)).toThrow(/Give me a time such as/)
})

describe('a time in a long text', () => {
  const story = Array.from({ length: 300 }, (_, at) => `word${at}`)
    .join(' ')
    .slice(0, 1_900)

  test('at its beginning or its end is found, and no word of the text is lost', () => {
    expect(read(`at 17:00 ${story}`)).toEqual(['2026-12-02T17:00', story])
    expect(read(`${story} tomorrow at 9`)).toEqual(['2026-12-03T09:00', story])
  })

  test('beyond the first and last 200 characters is none: nothing there is looked at', () => {
    expect(read(`${'word '.repeat(60)}at 17:00 ${'word '.repeat(60)}`)).toBeUndefined()
  })

  test.each([
    ['a reminder', () => read('1h '.repeat(13_000))],
    ['a whole text', () => readTiming('1h '.repeat(13_000), { now: NOW, timezone: BERLIN })],
    ['an end', () => readEnd('1h '.repeat(13_000), { now: NOW, timezone: BERLIN })],
    ['words without a time', () => read(`every ${'1h '.repeat(13_000)}`)],
  ])('%s of 39,000 characters is refused before it is looked at', (_title, of) => {
    expect(of).toThrow('The text is longer than 2000 characters; make it shorter.')
  })
})
