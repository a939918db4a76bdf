import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { explainConfig } from '../../src/config/explain.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { toError } from '../../src/core/errors.ts'
import { checkTiming } from '../../src/schedule/check-cron.ts'
import { load, TELEGRAM, TOKEN, temporaryFolder } from './loading.ts'

const DAILY = { id: 'a', cron: '0 8 * * *', prompt: 'hello', deliverTo: 'telegram:group:-1/2' }

/** As `parley config check` reads it: with the calendar at hand. */
async function checked(...schedules: readonly object[]) {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'parley.yaml'), `${TELEGRAM}schedules: ${JSON.stringify(schedules)}\n`)
  const options = { path: 'parley.yaml', env: { HOME: folder, TOKEN }, cwd: folder, catalogue }
  return loadConfig({ ...options, checkTiming: async (timing) => checkTiming(timing) })
}

async function refusal(...schedules: readonly object[]): Promise<string> {
  const error: unknown = await checked(...schedules).then(
    () => new Error('The file was accepted.'),
    (thrown: unknown) => thrown,
  )
  return toError(error).message
}

describe('schedules', () => {
  test('one is read with its defaults: the own zone, once for what was missed, no overlap', async () => {
    const { config } = await checked(DAILY)
    expect(config.schedules).toEqual([
      {
        id: 'a',
        definition: {
          cron: '0 8 * * *',
          timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
          prompt: 'hello',
          deliverTo: { channel: 'telegram', account: 'default', chatType: 'group', chat: '-1', topic: '2' },
          missed: { kind: 'once' },
          overlap: 'skip',
        },
      },
    ])
    expect(config.warnings.join()).not.toContain('schedules')
  })

  test('all its settings, and what they mean', async () => {
    const more = {
      timezone: 'Europe/Berlin',
      agent: 'Main',
      digestOf: 'telegram:group:-7',
      missed: 'all(3)',
      overlap: 'queue',
    }
    const { config } = await checked({ ...DAILY, ...more })
    expect(explainConfig(config)).toContain(
      'schedules.a: "0 8 * * *" in Europe/Berlin, agent main, digest of telegram:group:-7, to telegram:group:-1/2, missed all(3), overlap queue',
    )
  })

  test.each([
    [{ cron: '60 8 * * *' }, 'schedules[0].cron: "60 8 * * *" is no cron expression'],
    [{ cron: '0 8 * *' }, 'schedules[0].cron: "0 8 * *" has the wrong form; write five fields'],
    [{ cron: '0 0 8 * * *' }, 'schedules[0].cron: "0 0 8 * * *" has the wrong form; write five fields'],
    [{ cron: '@reboot' }, 'schedules[0].cron: "@reboot" has the wrong form'],
    [{ cron: '0 8 LW * *' }, 'schedules[0].cron: "0 8 LW * *" is no cron expression'],
    [{ cron: '0 8 31 2 *' }, 'schedules[0].cron: "0 8 31 2 *" is no cron expression'],
    [{ timezone: 'Europe/Berlim' }, 'schedules[0].timezone: there is no time zone Europe/Berlim; write one such as'],
    [{ agent: 'mian' }, 'schedules[0].agent: there is no agent mian; known: main; did you mean `main`?'],
    [
      { deliverTo: 'slack:channel:C1' },
      'schedules[0].deliverTo: slack:channel:C1 is on no channel of this file; write <channel>:',
    ],
    [{ deliverTo: 'telegram@second:group:-1' }, 'schedules[0].deliverTo: telegram@second:group:-1 is on no channel'],
    [
      { digestOf: 'signal:group:-1' },
      'schedules[0].digestOf: signal:group:-1 is on no channel of this file; write <channel>:',
    ],
    [{ digestOf: 'telegram:-1' }, 'schedules[0].digestOf: must be <channel>:<direct|group|channel>:<chat>[/<topic>]'],
    [{ deliverTo: undefined }, 'schedules[0].deliverTo: is missing'],
    [{ missed: 'all(0)' }, 'schedules[0].missed: must be skip, once or all(<number>), at most all(100)'],
    [{ missed: 'all(101)' }, 'schedules[0].missed: must be skip, once or all(<number>), at most all(100)'],
    [{ overlap: 'kill' }, 'schedules[0].overlap: must be one of skip, queue'],
    [{ id: 'a b' }, 'schedules[0].id: must be letters, digits'],
  ])('%j is refused with path and remedy', async (changes, message) => {
    expect(await refusal({ ...DAILY, ...changes })).toContain(message)
  })

  test('a wrong time and a wrong zone are told together', async () => {
    const message = await refusal({ ...DAILY, cron: '0 25 * * *', timezone: 'Mars/Olympus' })
    expect(message).toContain('schedules[0].cron: "0 25 * * *"')
    expect(message).toContain('schedules[0].timezone: there is no time zone Mars/Olympus')
  })

  test('two of one id are refused, and a wrong time is told beside a wrong place', async () => {
    const message = await refusal({ ...DAILY, deliverTo: 'slack:direct:D1' }, { ...DAILY, cron: 'x' })
    expect(message).toContain('schedules[0].deliverTo')
    expect(message).toContain('schedules[1].id: there is another schedule a')
    expect(message).toContain('schedules[1].cron')
  })

  test('without schedules there are none', async () => {
    expect((await load(TELEGRAM)).config.schedules).toEqual([])
  })
})
