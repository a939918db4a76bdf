import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../../../src/agent/tools/catalogue.ts'
import type { SessionTools } from '../../../src/core/session-tools.ts'
import type { WebTools } from '../../../src/core/web.ts'
import { toolContext } from '../turns.ts'

const tools = createCatalogue({ timeZone: 'Europe/Berlin', sessions: {} as SessionTools, web: {} as WebTools })
const now = Date.UTC(2026, 6, 1, 10, 0)

function timeTool() {
  const [tool] = tools(['time'])
  if (!tool) throw new Error('The group time is empty.')
  return tool
}

describe('tool catalogue', () => {
  it('the group time holds the one pure tool current_time, also when it is named twice', () => {
    expect(tools(['time', 'time']).map(({ spec, class: kind }) => [spec.name, kind])).toEqual([
      ['current_time', 'pure'],
    ])
    expect(tools([])).toEqual([])
  })

  it('a list that is asked for again has the same tools', () => {
    const groups = ['time', 'sessions']
    const names = () => tools(groups).map(({ spec }) => spec.name)
    expect(names()).toHaveLength(4)
    expect(names()).toEqual(tools([...groups]).map(({ spec }) => spec.name))
  })

  it('an unknown group is refused naming the known ones', () => {
    expect(() => tools(['time', 'shell'])).toThrow(
      expect.objectContaining({
        code: 'config',
        message: 'There is no tool group "shell"; known groups: time, sessions, web.',
      }),
    )
  })

  it('current_time tells the time of the asked zone, else of the home zone', async () => {
    const tool = timeTool()
    expect(await tool.run({ timezone: 'Asia/Tokyo' }, toolContext(now))).toBe(
      'Wednesday, 2026-07-01 19:00 (Asia/Tokyo, GMT+09:00)',
    )
    expect(await tool.run({}, toolContext(now))).toBe('Wednesday, 2026-07-01 12:00 (Europe/Berlin, GMT+02:00)')
  })

  it.each([{ timezone: 'Mars/Base' }, { timezone: 7 }])(
    'current_time refuses %j with the form it wants',
    async (args) => {
      await expect(timeTool().run(args, toolContext(now))).rejects.toThrow(
        expect.objectContaining({ code: 'invalid', message: expect.stringContaining('Europe/Berlin') }),
      )
    },
  )
})

describe('the group web', () => {
  it('holds a search where one is configured, and reads pages in any case', () => {
    const names = (web: Partial<WebTools>) =>
      createCatalogue({ timeZone: 'UTC', sessions: {} as SessionTools, web: web as WebTools })(['web']).map(
        ({ spec }) => spec.name,
      )
    expect(names({})).toEqual(['web_fetch'])
    expect(names({ search: async () => [] })).toEqual(['web_fetch', 'web_search'])
  })
})
