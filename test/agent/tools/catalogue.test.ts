import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../../../src/agent/tools/catalogue.ts'
import { memoryTools } from '../../../src/agent/tools/memory-tools.ts'
import { react } from '../../../src/agent/tools/react.ts'
import { scheduleTools } from '../../../src/agent/tools/schedule-tools.ts'
import type { SessionTools } from '../../../src/core/session-tools.ts'
import type { Tool } from '../../../src/core/turn.ts'
import type { WebTools } from '../../../src/core/web.ts'
import { toolContext } from '../turns.ts'

const tools = createCatalogue({ timeZone: 'Europe/Berlin', sessions: {} as SessionTools, web: {} as WebTools })
const now = Date.UTC(2026, 6, 1, 10, 0)

async function timeTool() {
  const [tool] = await tools(['time'])
  if (!tool) throw new Error('The group time is empty.')
  return tool
}

describe('tool catalogue', () => {
  it('the group time holds the one pure tool current_time, also when it is named twice', async () => {
    expect((await tools(['time', 'time'])).map(({ spec, class: kind }) => [spec.name, kind])).toEqual([
      ['current_time', 'pure'],
    ])
    expect(await tools([])).toEqual([])
  })

  it('a list that is asked for again has the same tools', async () => {
    const groups = ['time', 'sessions']
    const names = async (asked = groups) => (await tools(asked)).map(({ spec }) => spec.name)
    expect(await names()).toHaveLength(4)
    expect(await names()).toEqual(await names([...groups]))
  })

  it('S41: what takes away or reacts keeps no words, and may be done by a turn that is being forgotten', () => {
    const all = [...memoryTools({} as never, {} as never), ...scheduleTools({} as never), react({} as never)]
    const changing = all.filter((tool) => tool.class !== 'pure')
    expect(Object.fromEntries(changing.map(({ spec, keepsWords = true }) => [spec.name, keepsWords]))).toEqual({
      memory_save: true,
      memory_forget: false,
      schedule_create: true,
      schedule_cancel: false,
      react: false,
    })
  })

  it('an unknown group is refused naming the known ones', async () => {
    await expect(tools(['time', 'shell'])).rejects.toThrow(
      expect.objectContaining({
        code: 'config',
        message: 'There is no tool group "shell"; known groups: time, sessions, web.',
      }),
    )
  })

  it('a tool whose name is taken in another group is refused, naming both', async () => {
    const [time] = await tools(['time'])
    const more = (group: Tool | undefined) =>
      createCatalogue({
        ...{ timeZone: 'UTC', sessions: {} as SessionTools, web: {} as WebTools },
        more: { 'own.clock': group ? [group] : [] },
      })
    expect(() => more(time && { ...time })).toThrow(
      expect.objectContaining({
        code: 'config',
        message: 'own.clock: there is a tool current_time already, in time; rename yours.',
      }),
    )
    expect(() => more(time && { ...time, spec: { ...time.spec, name: 'other_time' } })).not.toThrow()
  })

  it('current_time tells the time of the asked zone, else of the home zone', async () => {
    const tool = await timeTool()
    expect(await tool.run({ timezone: 'Asia/Tokyo' }, toolContext(now))).toBe(
      'Wednesday, 2026-07-01 19:00 (Asia/Tokyo, GMT+09:00)',
    )
    expect(await tool.run({}, toolContext(now))).toBe('Wednesday, 2026-07-01 12:00 (Europe/Berlin, GMT+02:00)')
  })

  it.each([{ timezone: 'Mars/Base' }, { timezone: 7 }])(
    'current_time refuses %j with the form it wants',
    async (args) => {
      await expect((await timeTool()).run(args, toolContext(now))).rejects.toThrow(
        expect.objectContaining({ code: 'invalid', message: expect.stringContaining('Europe/Berlin') }),
      )
    },
  )
})

describe('the group web', () => {
  it('holds a search where one is configured, and reads pages in any case', async () => {
    const names = async (web: Partial<WebTools>) =>
      (await createCatalogue({ timeZone: 'UTC', sessions: {} as SessionTools, web: web as WebTools })(['web'])).map(
        ({ spec }) => spec.name,
      )
    expect(await names({})).toEqual(['web_fetch'])
    expect(await names({ search: async () => [] })).toEqual(['web_fetch', 'web_search'])
  })
})
