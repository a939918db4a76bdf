import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inviteTo, PERMISSIONS } from '../../adapters/discord/connection/permissions.ts'
import { catalogue } from '../../adapters/index.ts'
import { appManifest } from '../../adapters/slack/connection/scopes.ts'
import type { ChannelPlugin } from '../../src/channels/adapter.ts'

const folder = new URL('../../config/', import.meta.url)
const page = readFileSync(new URL('first-bot.md', folder), 'utf8')
const platforms = Object.values(catalogue) as readonly ChannelPlugin<never>[]
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Returns the part of the page below a heading. */
function partOf(title: string): string {
  return new RegExp(`^## ${title}\n([^]*?)(?=^## |$(?![^]))`, 'm').exec(page)?.[1] ?? ''
}

/** Returns the entries of a list, numbered or not, each in one line. */
function entriesOf(part: string, mark: RegExp): readonly string[] {
  const lists = part.split(/\n(?=\d+\. |\* )|\n\n/)
  return lists.filter((entry) => mark.test(entry)).map((entry) => oneLine(entry.replace(mark, '')))
}

describe.each(platforms)('the part of $id', ({ traits, loadSetup }) => {
  const part = partOf(traits.name)

  test('has the steps of the set-up in their order, and its cautions', async () => {
    const { steps, cautions } = await loadSetup()

    expect(entriesOf(part, /^\d+\. /)).toEqual(steps)
    expect(entriesOf(part, /^\* /)).toEqual(cautions)
  })

  test('starts by hand with each of its variables, and has no address, name or number that the set-up has not', async () => {
    const { steps, cautions, secrets, manifest } = await loadSetup()
    const given = [...steps, ...cautions, inviteTo('<Application ID>'), manifest?.fileName ?? ''].join(' ')
    const command = /^ {4}(.*) npm start$/m.exec(part)?.[1] ?? ''
    const addresses = part.match(/https:\/\/[^\s)`]*|\b\d{4,}\b|\b[a-z_]+:[a-z]+\b/g) ?? []

    expect(command.match(/\b[A-Z_]+(?==)/g)).toEqual(secrets.map(({ variable }) => variable))
    expect(addresses.filter((address) => !given.includes(address))).toEqual([])
  })
})

test('the invite address of the page has the permissions of the code, and the page names each', () => {
  expect(page).toContain(`    ${inviteTo('<Application ID>')}\n`)
  const named = /these permissions: ([^.]*)\./.exec(oneLine(partOf('Discord')))?.[1]?.split(', ')
  expect(named).toEqual(PERMISSIONS.map(({ name }) => name))
})

test('the manifest beside the page is the one that the code writes', () => {
  expect(readFileSync(new URL('slack-manifest.json', folder), 'utf8')).toBe(appManifest())
})

test('the page is short', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(120)
})
