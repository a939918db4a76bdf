import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { OwnToolsPath } from './config.ts'
import type { Mistake } from './mistake.ts'
import { isFolder, notFile } from './read-bounded.ts'
import type { ConfigFile } from './schema.ts'

/** Returns the files with tools of the operator's own. They are loaded at the start, not to check the configuration. */
export function buildOwnTools({ tools: { own } }: ConfigFile, folder: string): readonly OwnToolsPath[] {
  return Object.entries(own).map(([name, file]) => ({ name, path: resolve(folder, file) }))
}

export function ownToolsMistakes(files: readonly OwnToolsPath[]): Mistake[] {
  return files
    .filter(({ path }) => !isFile(path))
    .map(({ name, path }) => {
      const words = isFolder(path) ? notFile(path) : `there is no file ${path}`
      return { path: ['tools', 'own', name], message: `tools.own.${name}: ${words}` }
    })
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
