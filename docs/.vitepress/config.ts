// The site of the documentation. `npm run docs` builds it.

export { default } from '../../scripts/site/config.ts'
