import * as readTools from './read-tools.ts'
import type { Tool } from './tool.ts'
import * as writeTools from './write-tools.ts'

export const TOOLS: Tool[] = [...Object.values(readTools), ...Object.values(writeTools)]
