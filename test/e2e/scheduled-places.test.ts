import { expect, it } from 'vitest'
import { GROUP, payingPlaces } from './paying-places.ts'

const TASK = 'hand it to a task: pay {"to":"cy"}'

it('R36: what is denied in a chat is denied in what somebody has scheduled there', async () => {
  const { scheduled, paid } = await payingPlaces(`telegram:group:${GROUP}`)
  expect(await scheduled('pay {"to":"cy"}', GROUP)).toContain('Denied')
  expect(paid).toEqual([])
  expect(await scheduled('pay {"to":"dan"}', 444)).toContain('paid')
})

it('R36: and in a task that a scheduled run begins', async () => {
  const { scheduled, paid } = await payingPlaces(`telegram:group:${GROUP}`)
  expect(await scheduled(TASK, GROUP)).toContain('Denied')
  expect(paid).toEqual([])
})
