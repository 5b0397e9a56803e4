package dtype

// RaceEnabled is for the tests outside of the package.
const RaceEnabled = raceEnabled
