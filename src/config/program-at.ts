import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isFolder, notFile } from './read-bounded.ts'

/** Returns a program as it is started: a bare name is looked up in PATH, one with a slash begins in the folder. */
export function programAt(command: string, folder: string): string {
  return command.includes('/') ? resolve(folder, command) : command
}

/** Returns why a program cannot be started, as far as a look at it says. What PATH will have is not known. */
export function programMistake(command: string, folder: string): string | undefined {
  const program = programAt(command, folder)
  if (command.includes('/') && isProgram(program)) return undefined
  if (/\s/.test(command)) return `there is no program ${command}; write what stands behind the program under args`
  if (!command.includes('/')) return undefined
  if (command.startsWith('~')) return `${command}: ~ stands for no folder here; write the whole path`
  if (!existsSync(program)) return `there is no file ${program}; check the path`
  if (isFolder(program)) return notFile(program)
  return `${program} is no program that this user may run; check the path, and chmod +x it`
}

/** Returns whether this user may run a file. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
