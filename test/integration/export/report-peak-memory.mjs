// For `node --import`: a process tells its greatest resident size, in megabytes, as it ends.
process.on('exit', () => {
  process.stderr.write(`peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MB\n`);
});
